import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { CrunchError } from "../../errors.js";
import type { PrivateGit } from "./private-git.js";

/** A path as git prints it, one character a byte: names need not be UTF-8. */
export type RawPath = string;

const LARGEST_FILE = 50 * 1024 * 1024;

export function splitPaths(output: Buffer): RawPath[] {
  return output.toString("latin1").split("\0").filter(Boolean);
}

export const joinPaths = (paths: readonly RawPath[]) =>
  Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
export const onDisk = (directory: string, path: RawPath) =>
  Buffer.from(`${Buffer.from(directory).toString("latin1")}/${path}`, "latin1");

/**
 * Brings the private index up to the files of the workspace, as `git add -A` would, but never as a gitlink:
 * with one in the index, git would run `git status` inside the nested repository, by that one's configuration.
 */
export async function refreshIndex(
  git: PrivateGit,
  workTree: string,
  options: { readonly refuseHuge: boolean; readonly outputFolder: string },
): Promise<void> {
  const { gone, changed } = await trackedChanges(git, workTree);
  // First, because what replaced a tracked file is listed only when that file's entry is gone.
  await git.run(["update-index", "-z", "--force-remove", "--stdin"], { workTree, input: joinPaths(gone) });
  const fresh = await untracked(git, workTree, options.outputFolder);
  if (options.refuseHuge) await refuseHugeFiles(workTree, [...changed, ...fresh]);
  await addFiles(git, workTree, [...changed, ...fresh]);
}

/** Puts exactly these files into the index. */
export async function addFiles(git: PrivateGit, workTree: string, paths: readonly RawPath[], index?: string) {
  await git.run(["update-index", "-z", "--add", "--replace", "--stdin"], {
    workTree,
    input: joinPaths(paths),
    ...(index && { index }),
  });
}

/** All files under the directory, whatever `.gitignore` says. */
export async function allFiles(git: PrivateGit, workTree: string, index: string): Promise<RawPath[]> {
  return splitPaths(await git.run(["ls-files", "-z", "--others"], { workTree, index }));
}

/** Files of the index that are not as they were when it was last brought up to date. */
export async function trackedChanges(git: PrivateGit, workTree: string) {
  const fields = splitPaths(
    await git.run(["diff-files", "-z", "--name-status", "--no-renames"], { workTree }),
  );
  const gone: RawPath[] = [];
  const changed: RawPath[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const path = fields[i + 1] ?? "";
    const found = fields[i] === "D" ? null : await lstat(onDisk(workTree, path)).catch(() => null);
    const isFile = found !== null && !found.isDirectory();
    (isFile ? changed : gone).push(path);
  }
  return { gone, changed };
}

/** Files that the index does not have. Those in the output folder are taken even where `.gitignore` hides them. */
export async function untracked(git: PrivateGit, workTree: string, outputFolder: string): Promise<RawPath[]> {
  const list = async (args: readonly string[]) =>
    splitPaths(await git.run(["ls-files", "-z", "--others", ...args], { workTree }));
  const visible = await list(["--exclude-standard"]);
  const outputs = await list(["--", outputFolder]);
  const found = [...new Set([...visible, ...outputs])];
  const files = found.filter((path) => !path.endsWith("/"));
  for (const nested of found.filter((path) => path.endsWith("/"))) {
    files.push(...(await filesOfNested(git, workTree, nested, outputFolder)));
  }
  return files.filter((path) => !path.toLowerCase().split("/").includes(".git"));
}

/** git does not look into a repository inside the workspace: its files are listed as if it were a workspace. */
async function filesOfNested(
  git: PrivateGit,
  workTree: string,
  nested: RawPath,
  outputFolder: string,
): Promise<RawPath[]> {
  const inner = join(workTree, toText(nested));
  const index = join(git.directory, "nested-index");
  const listed = splitPaths(
    await git.run(["ls-files", "-z", "--others", "--exclude-standard"], { workTree: inner, index }),
  );
  const files: RawPath[] = [];
  for (const path of listed) {
    if (path.endsWith("/")) files.push(...(await filesOfNested(git, workTree, nested + path, outputFolder)));
    else files.push(nested + path);
  }
  return nested.startsWith(`${outputFolder}/`) ? files : withoutIgnored(git, workTree, files);
}

async function withoutIgnored(git: PrivateGit, workTree: string, paths: readonly RawPath[]) {
  const ignored = await git.run(["check-ignore", "-z", "--stdin", "--no-index"], {
    workTree,
    // The prefix keeps a name that begins with `:` from being read as pathspec magic.
    input: joinPaths(paths.map((path) => `./${path}`)),
    // Its way to say that none is ignored.
    toleratedExit: 1,
  });
  const hidden = new Set(splitPaths(ignored));
  return paths.filter((path) => !hidden.has(`./${path}`));
}

/** Before git reads them: a sparse file of a terabyte would keep it busy for hours. */
async function refuseHugeFiles(workTree: string, paths: readonly RawPath[]): Promise<void> {
  for (const path of paths) {
    const size = (await lstat(onDisk(workTree, path)).catch(() => null))?.size ?? 0;
    if (size <= LARGEST_FILE) continue;
    throw new CrunchError({
      code: "file_too_large",
      message: `The file ${JSON.stringify(toText(path))} has ${Math.round(size / 1024 / 1024)} MB; the limit is 50 MB.`,
      hint: "Have the agent delete it or name it in `.gitignore`, then run the phase again.",
    });
  }
}

export function toText(path: RawPath): string {
  return Buffer.from(path, "latin1").toString("utf8");
}
