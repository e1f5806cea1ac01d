import { constants } from "node:fs";
import { lstat, mkdir, open, rmdir, symlink, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CrunchError } from "../../errors.js";
import type { FileChange } from "../../ports.js";
import { refuseOutsideTarget } from "./symlink-target.js";

type File = Pick<FileChange, "path" | "mode"> & { readonly content: Buffer };

/**
 * Writes a file of the workspace. The path may come from a checkpoint, which can be forged, and the folder holds what
 * agents left there: nothing on the way may lead elsewhere.
 */
export async function writeInside(directory: string, { path, mode, content }: File): Promise<void> {
  const target = await reach(directory, path, { makes: true });
  if (target === null) throw refused(path, "lies where there is no folder");
  await clear(target, path);
  if (mode === "120000") {
    const leadsTo = content.toString("utf8");
    refuseOutsideTarget(path, leadsTo);
    return symlink(leadsTo, target);
  }
  // What was there is gone; whoever puts a link in its place meanwhile is not followed.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(target, flags, 0o644);
  try {
    await file.writeFile(content);
    await file.chmod(mode === "100755" ? 0o755 : 0o644);
  } finally {
    await file.close();
  }
}

/** Deletes a file of the workspace if it is there, and the folders that are empty then, as git does. */
export async function deleteInside(directory: string, path: string): Promise<void> {
  const target = await reach(directory, path, { makes: false });
  const found = target === null ? null : await lstat(target).catch(() => null);
  if (target === null || found === null || found.isDirectory()) return;
  await unlink(target);
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    const isGone = await rmdir(join(directory, folder)).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

/** Where the path is, once every folder on the way is known to be a real one; null where one is missing. */
async function reach(directory: string, path: string, { makes }: { readonly makes: boolean }) {
  const names = path.split("/");
  if (names.some((name) => ["", ".", ".."].includes(name) || name.includes("\0")))
    throw refused(path, "does not stay inside the workspace");
  if (names.some((name) => name.toLowerCase() === ".git")) throw refused(path, "belongs to git itself");
  let at = directory;
  for (const name of names.slice(0, -1)) {
    at = join(at, name);
    let found = await lstat(at).catch(() => null);
    if (found === null) {
      if (!makes) return null;
      await mkdir(at);
      found = await lstat(at);
    }
    if (found.isSymbolicLink()) throw refused(path, "leads through a symbolic link");
    if (!found.isDirectory()) {
      if (!makes) return null;
      throw refused(path, "has a file where a folder should be");
    }
  }
  return join(at, names.at(-1) ?? "");
}

/** Makes room for a file: a link is taken away rather than followed, a folder only when it is empty. */
async function clear(target: string, path: string): Promise<void> {
  const found = await lstat(target).catch(() => null);
  if (found === null) return;
  if (!found.isDirectory()) return unlink(target);
  await rmdir(target).catch((cause: unknown) => {
    throw refused(path, "is a folder with files in it", cause);
  });
}

function refused(path: string, reason: string, cause?: unknown): CrunchError {
  return new CrunchError({
    code: "workspace_path_refused",
    message: `${JSON.stringify(path.slice(0, 200))} can't be restored: it ${reason}.`,
    hint: "Look at who changed the checkpoint; `/crunch rollback <id>` with an earlier one goes on without this file.",
    cause,
  });
}
