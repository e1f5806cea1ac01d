import { lstat, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { addFiles, allFiles, type RawPath, splitPaths } from "./file-index.js";
import type { PrivateGit } from "./private-git.js";

/** git knows this one without it being stored. */
const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
const GITLINK = "160000";

export interface Checkout {
  readonly tracked: readonly RawPath[];
  /** Those of them that the commit has, where others are tracked too. */
  readonly committed?: ReadonlySet<string>;
  /** Patterns of `.git/info/exclude`, which belong to the person rather than to the repository. */
  readonly excludes: string;
}

/** What the checkout's own git knows: read from its files alone, so that its configuration has no say. */
export async function readCheckout(git: PrivateGit, directory: string): Promise<Checkout> {
  const gitDirectory = await ownGitDirectory(directory);
  const excludes = (await readPlainFile(join(gitDirectory, "info/exclude"))) ?? "";
  const index = join(gitDirectory, "index");
  if (!(await isPlainFile(index))) return { tracked: [], excludes };
  const entries = splitPaths(await git.run(["ls-files", "-z", "--stage"], { workTree: directory, index }));
  const files = entries.filter((entry) => !entry.startsWith(GITLINK));
  return { tracked: [...new Set(files.map((entry) => entry.slice(entry.indexOf("\t") + 1)))], excludes };
}

/** `.git` is a file in a linked work tree. */
async function ownGitDirectory(directory: string): Promise<string> {
  const dotGit = join(directory, ".git");
  const target = /^gitdir: (.+)$/m.exec((await readPlainFile(dotGit)) ?? "")?.[1];
  return target === undefined ? dotGit : resolve(directory, target.trim());
}

async function readPlainFile(path: string): Promise<string | null> {
  return (await isPlainFile(path)) ? readFile(path, "utf8") : null;
}

/** To read a named pipe would wait for ever. */
async function isPlainFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isFile() ?? false;
}

/** Names the files in the index; their contents are read when the index is refreshed. */
export async function seedIndex(git: PrivateGit, workTree: string, checkout: Checkout): Promise<void> {
  await writeFile(join(git.directory, "info/exclude"), checkout.excludes);
  const lines = checkout.tracked.map((path) => `100644 ${EMPTY_BLOB}\t${path}\0`).join("");
  await git.run(["update-index", "-z", "--index-info"], { workTree, input: Buffer.from(lines, "latin1") });
}

/** Makes the files in the index those of `unpacked`; files the index does not have stay. */
export async function switchTo(git: PrivateGit, workTree: string, unpacked: string): Promise<void> {
  const index = join(git.directory, "unpacked-index");
  await addFiles(git, unpacked, await allFiles(git, unpacked, index), index);
  const tree = (await git.run(["write-tree"], { workTree: unpacked, index })).toString("latin1").trim();
  await git.run(["read-tree", "--reset", "-u", tree], { workTree });
}

export async function indexedFiles(git: PrivateGit, workTree: string): Promise<readonly RawPath[]> {
  return splitPaths(await git.run(["ls-files", "-z"], { workTree }));
}
