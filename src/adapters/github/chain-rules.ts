import { decodeCheckpoint, encodeCheckpoint } from "../../checkpoint/codec.js";
import { appendToIndex } from "../../checkpoint/index-file.js";
import { fileName, indexPath, latestPath } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import type { FileChange, PutOptions } from "../../ports.js";

/** The checkpoint's file, once nothing speaks against storing it. Does no I/O, so stores ask it first. */
export function encodeForChain(checkpoint: Checkpoint, options: PutOptions): string {
  fileName(checkpoint.checkpoint_id);
  if (checkpoint.parent_checkpoint_id !== options.expectedParent) {
    throw broken(
      "checkpoint_parent",
      `${checkpoint.checkpoint_id} names ${checkpoint.parent_checkpoint_id} as its parent, not ${options.expectedParent}.`,
    );
  }
  options.files?.forEach(refuseForeignFile);
  return encodeCheckpoint(checkpoint);
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
  return text.trim().replace(/\.yaml$/, "");
}

export function latestMissing(id: string): CrunchError {
  return broken("checkpoint_missing", `\`latest\` names ${id}, and there is no such checkpoint.`);
}

/** The index with one more entry, if it ends where the chain does: else one of the two was changed by hand. */
export function extendIndex(index: string | null, latest: string | null, checkpoint: Checkpoint): string {
  const end = index === null ? null : (/^latest: "?(CP-[a-z0-9_-]+)/m.exec(index)?.[1] ?? "nothing");
  if (end !== latest) {
    const message = `The index ends with ${end ?? "nothing"}, and the latest checkpoint is ${latest ?? "none"}.`;
    throw broken("index_mismatch", message);
  }
  return appendToIndex(index, checkpoint);
}

/** A path of the issue's folder that stays inside it. */
export function refuseOutside(path: string): void {
  const isInside = !/[\0\\]/.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));
  if (!isInside) throw refusedPath(path, "is not a path inside the issue's folder");
}

/** The chain's own files are the store's to write; retention only takes old checkpoints away. */
function refuseForeignFile({ path, content }: FileChange): void {
  refuseOutside(path);
  const isChain = path === "checkpoints" || path.startsWith("checkpoints/");
  const isOldCheckpoint = content === null && path !== indexPath && path !== latestPath;
  if (isChain && !isOldCheckpoint) throw refusedPath(path, "is a file of the checkpoint chain itself");
}

function refusedPath(path: string, reason: string): CrunchError {
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
