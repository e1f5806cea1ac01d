import { decodeCheckpoint, encodeCheckpoint } from "../checkpoint/codec.js";
import { compressed } from "../checkpoint/compression.js";
import { type ExtendedIndex, extendIndex } from "../checkpoint/extend-index.js";
import type { CheckpointIndex } from "../checkpoint/index-file.js";
import { fileName, type Layout } from "../checkpoint/layout.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { refusePutOver, type StorageOptions } from "../checkpoint/storage-options.js";
import { CrunchError } from "../errors.js";
import type { FileChange, PutOptions } from "../ports.js";

/** The checkpoint's file, once nothing speaks against storing it. Does no I/O, so stores ask it first. */
export function encodeForChain(
  checkpoint: Checkpoint,
  options: PutOptions,
  storage: StorageOptions,
): Buffer | string {
  const { checkpoint_id: id, parent_checkpoint_id: parent, trigger } = checkpoint;
  fileName(id);
  // A rollback's parent is the checkpoint it goes back to; any other's is the one before it.
  const isRight = trigger === "rollback" ? parent !== null : parent === options.expectedLatest;
  if (!isRight || parent === id)
    throw broken("checkpoint_parent", `${id} names ${parent} as its parent, not ${options.expectedLatest}.`);
  if (parent !== null) fileName(parent);
  for (const change of options.files ?? []) refuseForeignFile(change, storage.layout);
  const text = encodeCheckpoint(checkpoint);
  return storage.compress ? compressed(text) : text;
}

/**
 * A checkpoint of the chain from its file. A hash can be computed anew by whoever forges a file, so it must also be
 * of this issue, be the one asked for (where the name is known) and not be its own parent.
 */
export function decodeOfChain(bytes: Buffer, issue: number, id: string | null): Checkpoint {
  const checkpoint = decodeCheckpoint(bytes);
  const { checkpoint_id, issue_number, parent_checkpoint_id } = checkpoint;
  if (issue_number !== issue)
    throw broken("checkpoint_of_other_issue", `${checkpoint_id} belongs to issue ${issue_number}.`);
  if (id !== null && checkpoint_id !== id)
    throw broken("checkpoint_misnamed", `The file of ${id} holds ${checkpoint_id}.`);
  if (parent_checkpoint_id === checkpoint_id)
    throw broken("checkpoint_parent", `${checkpoint_id} names itself as its parent.`);
  return checkpoint;
}

/** The id in `latest`, whether it is the target of a symlink or the content of a plain file. */
export function idInLatest(text: string): string {
  return text.trim().replace(/\.yaml(?:\.gz)?$/, "");
}

export function latestMissing(id: string): CrunchError {
  return broken("checkpoint_missing", `\`latest\` names ${id}, and there is no such checkpoint.`);
}

/** The end of a chain; a latest that can't be read is known by its id alone. */
export interface ChainEnd {
  readonly id: string | null;
  readonly latest: Checkpoint | null;
}

/** A rollback may be what mends a chain whose latest can't be read: for it the id of the end is enough. */
export function endFor(
  { trigger }: Checkpoint,
  read: () => Checkpoint | null,
  readId: () => string | null,
): ChainEnd {
  try {
    const latest = read();
    return { id: latest?.checkpoint_id ?? null, latest };
  } catch (error) {
    if (trigger !== "rollback" || !(error instanceof CrunchError)) throw error;
    return { id: readId(), latest: null };
  }
}

/** The index with one more entry, if it ends where the chain does: else one of the two was changed by hand. */
export function extendChain(
  index: CheckpointIndex | null,
  checkpoint: Checkpoint,
  { expectedLatest: latest, retention }: PutOptions,
  storage: StorageOptions,
): ExtendedIndex {
  const end = index?.latest ?? null;
  if (end !== latest) {
    const message = `The index ends with ${end ?? "nothing"}, and the latest checkpoint is ${latest ?? "none"}.`;
    throw broken("index_mismatch", message);
  }
  return extendIndex(index, checkpoint, { retention, compressed: storage.compress });
}

/** The id of an earlier checkpoint that must be there for this one to be stored, unless the index tells that it is. */
export function parentToFind(index: CheckpointIndex | null, checkpoint: Checkpoint): string | null {
  const { trigger, parent_checkpoint_id: parent } = checkpoint;
  if (trigger !== "rollback") return null;
  const entry = index?.checkpoints.find(({ checkpoint_id }) => checkpoint_id === parent);
  return entry !== undefined && entry.removed_at === undefined ? null : parent;
}

export function parentMissing({ checkpoint_id: id, parent_checkpoint_id: parent }: Checkpoint): CrunchError {
  return broken("checkpoint_parent", `${id} goes back to ${parent}, which is not in the chain.`);
}

/** All that a put writes must stay within the limit together. */
export function refuseTooMuch(
  content: Buffer | string,
  { index, pages }: ExtendedIndex,
  files: PutOptions["files"] = [],
  { maxBytes }: StorageOptions,
): void {
  const texts = [content, index.text, ...pages.map(({ text }) => text)];
  refusePutOver(maxBytes, [...texts, ...files.map((file) => file.content)]);
}

/** A path of the issue's folder that stays inside it. */
export function refuseOutside(path: string): void {
  const isInside = !/[\0\\]/.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));
  if (!isInside) throw refusedPath(path, "is not a path inside the issue's folder");
}

/** The chain's own files are the store's to write and, by retention, to take away. */
function refuseForeignFile({ path }: FileChange, { chain }: Layout): void {
  refuseOutside(path);
  // Some file systems take names that differ in case for the same.
  if (path.split("/")[0]?.toLowerCase() !== chain.toLowerCase()) return;
  throw refusedPath(path, "is a file of the checkpoint chain itself");
}

export function refusedPath(path: string, reason: string): CrunchError {
  return new CrunchError({
    code: "file_path_refused",
    message: `${JSON.stringify(path.slice(0, 200))} ${reason}.`,
    hint: "Name files relative to the issue's folder, like `spec.md` or `notes/builder.md`.",
  });
}

function broken(code: string, message: string): CrunchError {
  const hint = "Restore the chain's files from an earlier commit of the storage branch.";
  return new CrunchError({ code, message, hint });
}
