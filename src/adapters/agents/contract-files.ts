import { constants, type Stats } from "node:fs";
import { type FileHandle, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentContext } from "../../ports.js";
import { temporaryFolder } from "../process/temporary-folder.js";

/** The files by which Crunch and an agent speak, in a private folder outside the workspace. */
export interface ContractFiles {
  readonly context: string;
  readonly result: string;
  readonly progress: string;
  readonly notes: string;
  remove(): Promise<void>;
}

export async function createContractFiles(context: AgentContext): Promise<ContractFiles> {
  const directory = await temporaryFolder("agent");
  const files: ContractFiles = {
    context: join(directory, "context.json"),
    result: join(directory, "result.json"),
    progress: join(directory, "progress.jsonl"),
    notes: join(directory, "notes.md"),
    remove: () => rm(directory, { recursive: true, force: true, maxRetries: 3 }),
  };
  await writeFile(files.context, JSON.stringify(context), { mode: 0o600 });
  await writeFile(files.progress, "", { mode: 0o600 });
  await writeFile(files.notes, context.previous.notes ?? "", { mode: 0o600 });
  return files;
}

/** Up to `limit` bytes from `from`, or null when there is no such plain file. */
export async function readPart(path: string, from: number, limit: number) {
  const handle = await openPlainFile(path);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.max(0, Math.min(limit, size - from)));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    return { bytes: bytes.subarray(0, bytesRead), size };
  } finally {
    await handle.close();
  }
}

/** The agent owns these files: a link could lead anywhere, and a named pipe would block for ever. */
async function openPlainFile(path: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(() => null);
  if (handle === null) return null;
  const stats: Stats = await handle.stat();
  if (stats.isFile()) return handle;
  await handle.close();
  return null;
}
