import { lstatSync, readdirSync, readlinkSync, renameSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isCheckpointId } from "../../checkpoint/id.js";
import type { FileChange } from "../../ports.js";
import { refusedPath, refuseOutside } from "../chain-rules.js";
import { createFlush, hasCode, ifThere, readPlain } from "./disk.js";
import { type ChainFolders, makeInside, realInside } from "./folders.js";

/** What is still to be done to a file of the issue's folder: take the staged one, or go. */
const Change = z.strictObject({ path: z.string(), staged: z.string().regex(/^CP-[a-z0-9_-]+\.\d+$/).nullable() });
export type Change = z.infer<typeof Change>;

export interface StagedPut {
  readonly id: string;
  /** The name of the checkpoint's file. */
  readonly name: string;
  readonly content: Buffer | string;
  readonly index: string;
  readonly files: readonly Pick<FileChange, "path" | "mode" | "content">[];
}

export interface StagingOptions {
  readonly isDurable: boolean;
  /** Called between any two steps: tests end the process there. */
  readonly onStep?: ((step: string) => void) | undefined;
}

const staged = (folders: ChainFolders, id: string, part: string) => join(folders.staging, `${id}.${part}`);

/**
 * A put in three parts. What is staged belongs to a checkpoint by its name, and counts once `latest` names that
 * checkpoint: before that it is rubbish, from then on it is part of the chain, whoever moves it to its place.
 */
export async function storeStaged(folders: ChainFolders, put: StagedPut, options: StagingOptions): Promise<void> {
  const step = options.onStep ?? (() => {});
  let changes: Change[];
  try {
    changes = stageFiles(folders, put, step);
    await stageChain(folders, put, changes, options);
    renameSync(staged(folders, put.id, "checkpoint"), join(folders.chain, put.name));
    step("checkpoint named");
    symlinkSync(put.name, staged(folders, put.id, "latest"));
    step("latest staged");
    renameSync(staged(folders, put.id, "latest"), join(folders.chain, "latest"));
  } catch (error) {
    rmSync(join(folders.chain, put.name), { force: true });
    discard(folders, put.id);
    throw error;
  }
  step("committed");
  const flush = createFlush(options.isDurable);
  flush.folder(folders.chain);
  await flush.flush();
  step("latest flushed");
  await finish(folders, put.id, changes, options);
}

function stageFiles(folders: ChainFolders, put: StagedPut, step: (name: string) => void): Change[] {
  for (const { path } of put.files) {
    const parent = dirname(path);
    if (parent !== ".") makeInside(folders.root, folders.issue, parent);
    if (ifThere(() => lstatSync(join(folders.issue, path)))?.isDirectory())
      throw refusedPath(path, "is a folder already");
  }
  step("folders made");
  return put.files.map(({ path, content }, at) => ({
    path,
    staged: content === null ? null : `${put.id}.${at}`,
  }));
}

async function stageChain(
  folders: ChainFolders,
  put: StagedPut,
  changes: readonly Change[],
  { isDurable, onStep }: StagingOptions,
): Promise<void> {
  const flush = createFlush(isDurable);
  try {
    for (const [at, { content, mode }] of put.files.entries()) {
      if (content === null) continue;
      const path = staged(folders, put.id, String(at));
      if (mode === "120000") symlinkSync(content.toString("utf8"), path);
      else flush.write(path, content, mode === "100755" ? 0o755 : 0o644);
      onStep?.("file staged");
    }
    if (changes.length > 0) flush.write(staged(folders, put.id, "changes"), JSON.stringify(changes));
    onStep?.("changes staged");
    flush.write(staged(folders, put.id, "index"), put.index);
    onStep?.("index staged");
    flush.write(staged(folders, put.id, "checkpoint"), put.content);
    onStep?.("checkpoint staged");
    flush.folder(folders.staging);
  } finally {
    await flush.flush();
  }
  onStep?.("staged files flushed");
}

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
  // The list of changes goes only when nothing of them can be lost any more.
  const parents = new Set(changes.map(({ path }) => dirname(join(folders.issue, path))));
  for (const parent of parents) ifThere(() => flush.folder(parent));
  await flush.flush();
  rmSync(staged(folders, id, "changes"), { force: true });
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
  rmSync(target, { force: true });
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
  for (const name of names) if (name.startsWith(`${id}.`)) rmSync(join(folders.staging, name), { force: true });
}

/** The target of `latest`, or its content where it is a plain file. */
export function readLatest(folders: ChainFolders): string | null {
  const path = join(folders.chain, "latest");
  try {
    return readlinkSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    if (!hasCode(error, "EINVAL")) throw error;
    return readPlain(path)?.subarray(0, 300).toString("utf8") ?? null;
  }
}
