import { readdirSync, renameSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isCheckpointId } from "../../checkpoint/id.js";
import { refuseOutside } from "../chain-rules.js";
import { createFlush, hasCode, ifThere, readPlain, removeFile } from "./disk.js";
import { type ChainFolders, makeInside, realInside } from "./folders.js";

/** What is still to be done to a file of the issue's folder: take the staged one, or go. */
const Change = z.strictObject({
  path: z.string(),
  staged: z
    .string()
    .regex(/^CP-[a-z0-9_-]+\.\d+$/)
    .nullable(),
});
export type Change = z.infer<typeof Change>;

export interface StagingOptions {
  readonly isDurable: boolean;
  /** Called between any two steps: tests end the process there. */
  readonly onStep?: ((step: string) => void) | undefined;
}

export const staged = (folders: ChainFolders, id: string, part: string) =>
  join(folders.staging, `${id}.${part}`);

/** Moves what is staged for the latest checkpoint to its place. May be done again after a crash at any step. */
export async function finish(
  folders: ChainFolders,
  id: string,
  changes: readonly Change[],
  { isDurable, onStep }: StagingOptions,
): Promise<void> {
  const flush = createFlush(isDurable);
  for (const change of changes) {
    apply(folders, change);
    onStep?.("file moved");
  }
  ifThere(() => renameSync(staged(folders, id, "index"), join(folders.chain, "index.yaml")));
  onStep?.("index moved");
  if (changes.length === 0) return;
  // The list of changes goes only when no moved file can be lost any more. One that was to go may stay: it harms nobody.
  const moved = changes.filter((change) => change.staged !== null);
  const parents = new Set(moved.map(({ path }) => dirname(join(folders.issue, path))));
  for (const parent of parents) ifThere(() => flush.folder(parent));
  await flush.flush();
  removeFile(staged(folders, id, "changes"));
  onStep?.("changes forgotten");
}

function apply(folders: ChainFolders, { path, staged: name }: Change): void {
  refuseOutside(path);
  const target = join(folders.issue, path);
  if (name !== null) {
    const parent = dirname(path);
    if (parent !== ".") makeInside(folders.root, folders.issue, parent);
    ifThere(() => renameSync(join(folders.staging, name), target));
    return;
  }
  if (realInside(folders.root, dirname(target)) === null) return;
  removeFile(target);
  // As in git, a folder without files is not there.
  for (let folder = dirname(target); folder.startsWith(`${folders.issue}/`); folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (hasCode(error, "ENOTEMPTY", "EEXIST", "ENOENT")) return;
      throw error;
    }
  }
}

/** What a checkpoint's put has not moved yet. */
export function pendingChanges(folders: ChainFolders, id: string): readonly Change[] {
  const bytes = readPlain(staged(folders, id, "changes"));
  return bytes === null ? [] : z.array(Change).parse(JSON.parse(bytes.toString("utf8")));
}

export function pendingIndex(folders: ChainFolders, id: string): Buffer | null {
  return readPlain(staged(folders, id, "index"));
}

/** The checkpoints that something is staged for. */
export function stagedIds(folders: ChainFolders): readonly string[] {
  const names = ifThere(() => readdirSync(folders.staging)) ?? [];
  return [...new Set(names.map((name) => name.replace(/\.[a-z0-9]+$/, "")))].filter(isCheckpointId);
}

export function discard(folders: ChainFolders, id: string): void {
  const names = ifThere(() => readdirSync(folders.staging)) ?? [];
  for (const name of names) if (name.startsWith(`${id}.`)) removeFile(join(folders.staging, name));
}
