import type { LocalGit } from "./git.js";

/** A file's bytes at a branch or commit; a symlink to a file of the repo gives that file's. */
export async function readLocalFile(git: LocalGit, rev: string, path: string): Promise<Buffer | null> {
  const input = Buffer.from(`${rev}:${path}\n`);
  const output = await git.run(["cat-file", "--batch", "--follow-symlinks"], { input });
  const headerEnd = output.indexOf("\n");
  const size = /^[0-9a-f]{40} blob (\d+)$/.exec(output.toString("latin1", 0, headerEnd))?.[1];
  // All else git may say (missing, dangling, a folder) means that there is no such file.
  return size === undefined ? null : output.subarray(headerEnd + 1, headerEnd + 1 + Number(size));
}
