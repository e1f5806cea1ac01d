import { lstatSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileChange } from "../../ports.js";
import { refusedPath } from "../chain-rules.js";
import { createFlush, ifThere, removeFile } from "./disk.js";
import { type ChainFolders, makeInside } from "./folders.js";
import { type Change, discard, finish, type StagingOptions, staged } from "./staged-changes.js";

export interface StagedPut {
  readonly id: string;
  /** The name of the checkpoint's file. */
  readonly name: string;
  readonly content: Buffer | string;
  readonly index: string;
  readonly files: readonly Pick<FileChange, "path" | "mode" | "content">[];
}

/**
 * A put in three parts. What is staged belongs to a checkpoint by its name, and counts once `latest` names that
 * checkpoint: before that it is rubbish, from then on it is part of the chain, whoever moves it to its place.
 */
export async function storeStaged(
  folders: ChainFolders,
  put: StagedPut,
  options: StagingOptions & { readonly beforeCommit: () => void },
): Promise<void> {
  const step = options.onStep ?? (() => {});
  let changes: Change[];
  try {
    changes = stageFiles(folders, put, step);
    await stageChain(folders, put, changes, options);
    renameSync(staged(folders, put.id, "checkpoint"), join(folders.chain, put.name));
    step("checkpoint named");
    symlinkSync(put.name, staged(folders, put.id, "latest"));
    step("latest staged");
    options.beforeCommit();
    renameSync(staged(folders, put.id, "latest"), join(folders.chain, "latest"));
  } catch (error) {
    removeFile(join(folders.chain, put.name));
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
