import fs from "node:fs";
import { promisify } from "node:util";

const fsync = promisify(fs.fsync);

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** What `action` gives, or null when the file it is about is not there. */
export function ifThere<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}

/** The bytes of a file that is no symlink: chain files are none, and one could lead anywhere. */
export function readPlain(path: string): Buffer | null {
  const fd = ifThere(() => fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW));
  if (fd === null) return null;
  try {
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Tells whether a file is still the one that was read: every put replaces files, none is written in place. */
export function stampOf(path: string): string | null {
  const stat = ifThere(() => fs.lstatSync(path, { bigint: true }));
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

export function removeFile(path: string): void {
  ifThere(() => fs.unlinkSync(path));
}

/** What a crash has left under the name may be a symlink: it is never written to. */
function openNew(path: string, mode: number): number {
  try {
    return fs.openSync(path, "wx", mode);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    removeFile(path);
    return fs.openSync(path, "wx", mode);
  }
}

export function flushFolderNow(path: string): void {
  const fd = fs.openSync(path, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Files and folders that are to be on the disk before the next step. They are flushed all at once, because the file
 * system writes its journal once for all who wait. Small calls are synchronous: a detour over the thread pool takes
 * longer than the call.
 */
export function createFlush(isDurable: boolean) {
  let open: number[] = [];
  return {
    write(path: string, content: Buffer | string, mode = 0o644): void {
      const fd = openNew(path, mode);
      open.push(fd);
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
    },
    folder(path: string): void {
      if (isDurable) open.push(fs.openSync(path, "r"));
    },
    async flush(): Promise<void> {
      const fds = open;
      open = [];
      try {
        if (isDurable) await Promise.all(fds.map((fd) => fsync(fd)));
      } finally {
        for (const fd of fds) fs.closeSync(fd);
      }
    },
  };
}
