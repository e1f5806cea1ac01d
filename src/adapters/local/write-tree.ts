import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CrunchError } from "../../errors.js";
import type { FileChange } from "../../ports.js";
import { temporaryFolder } from "../process/temporary-folder.js";
import type { LocalGit } from "./git.js";

const NO_BLOB = "0".repeat(40);

/** The tree `base` with the changes made to it. All of it happens in a private index. */
export async function writeTree(
  git: LocalGit,
  base: string,
  changes: readonly FileChange[],
): Promise<string> {
  const folder = await temporaryFolder("index");
  try {
    const index = join(folder, "index");
    const written = changes.filter(({ content }) => content !== null);
    const blobs = await writeBlobs(git, folder, written);
    const deletions = changes
      .filter(({ content }) => content === null)
      .map(({ path }) => `0 ${NO_BLOB}\t${path}`);
    const additions = written.map(({ path, mode }, at) => ({ path, mode, blob: blobs[at] ?? NO_BLOB }));
    await git.run(["read-tree", base], { index });
    // Deletions first: a folder may have taken the place of a file, or a file that of a folder.
    const lines = [...deletions, ...additions.map(({ path, mode, blob }) => `${mode} ${blob}\t${path}`)];
    await git.run(["update-index", "-z", "--index-info"], { index, input: zeroEnded(lines) });
    await refuseDropped(git, index, additions);
    return await git.text(["write-tree"], { index });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One process for all of them, in the order given. Contents are stored as they are: the agent's bytes count. */
async function writeBlobs(
  git: LocalGit,
  folder: string,
  files: readonly FileChange[],
): Promise<readonly string[]> {
  if (files.length === 0) return [];
  const paths = files.map((_, at) => join(folder, `blob-${at}`));
  for (const [at, path] of paths.entries()) await writeFile(path, files[at]?.content ?? "");
  const input = Buffer.from(paths.map((path) => `${path}\n`).join(""));
  return (await git.text(["hash-object", "-w", "--no-filters", "--stdin-paths"], { input })).split("\n");
}

/** update-index leaves out what it takes for a harmful path (`.git`, `..`), and only mutters about it. */
async function refuseDropped(
  git: LocalGit,
  index: string,
  additions: readonly { readonly path: string; readonly mode: string; readonly blob: string }[],
): Promise<void> {
  if (additions.length === 0) return;
  const listed = (await git.run(["ls-files", "--stage", "-z"], { index })).toString("utf8").split("\0");
  const entries = new Set(listed);
  const dropped = additions.filter(({ path, mode, blob }) => !entries.has(`${mode} ${blob} 0\t${path}`));
  if (dropped.length === 0) return;
  const paths = dropped.map(({ path }) => JSON.stringify(path)).join(", ");
  throw new CrunchError({
    code: "path_refused",
    message: `git does not take these paths into a commit: ${paths}.`,
    hint: "Have the agent rename or delete these files, then run the phase again.",
  });
}

function zeroEnded(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\0`).join(""));
}
