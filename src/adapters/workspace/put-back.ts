import { unlink } from "node:fs/promises";
import { joinPaths, onDisk, type RawPath, toText, trackedChanges, untracked } from "./file-index.js";
import type { PrivateGit } from "./private-git.js";
import { deleteInside } from "./write-inside.js";

/** Makes the files again what the index says they are. What `.gitignore` hides stays: nobody counts it. */
export async function putBack(git: PrivateGit, workTree: string, outputFolder: string): Promise<void> {
  for (const path of await untracked(git, workTree, outputFolder)) await remove(workTree, path);
  const { gone, changed } = await trackedChanges(git, workTree);
  const input = joinPaths([...gone, ...changed]);
  await git.run(["checkout-index", "-z", "--force", "--stdin"], { workTree, input });
}

async function remove(workTree: string, path: RawPath): Promise<void> {
  const name = toText(path);
  if (Buffer.from(name).toString("latin1") === path) return deleteInside(workTree, name);
  // A name that is not UTF-8 has no text to go by.
  await unlink(onDisk(workTree, path)).catch(() => {});
}
