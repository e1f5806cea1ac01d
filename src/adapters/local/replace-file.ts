import { randomBytes } from "node:crypto";
import { lstat, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The bytes of a plain file, or null when there is none. To read a named pipe would wait for ever. */
export async function readPlain(path: string): Promise<Buffer | null> {
  const found = await lstat(path).catch(ifMissing);
  if (!found?.isFile()) return null;
  return readFile(path).catch(ifMissing);
}

function ifMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}

/**
 * Puts the content in the place of `before` (null: no file yet), whole or not at all, whatever dies when. Answers
 * false when the file is no longer `before`: a person edits these too.
 */
export async function replaceFile(path: string, content: Buffer, before: Buffer | null): Promise<boolean> {
  const mode = before === null ? 0o644 : (await lstat(path).catch(ifMissing))?.mode;
  const unique = `${process.pid}-${randomBytes(4).toString("hex")}`;
  // The leading dot and the ending keep it from being taken for an issue or a comment.
  const temporary = join(dirname(path), `.${basename(path)}.${unique}.tmp`);
  try {
    const file = await open(temporary, "wx", (mode ?? 0o644) & 0o777);
    try {
      await file.writeFile(content);
      // What the person allowed others, whatever this process may by default.
      if (mode !== undefined && before !== null) await file.chmod(mode & 0o777);
      await file.sync();
    } finally {
      await file.close();
    }
    const now = await readPlain(path);
    const isSame = now === null || before === null ? now === before : now.equals(before);
    if (isSame) await rename(temporary, path);
    return isSame;
  } finally {
    await rm(temporary, { force: true });
  }
}
