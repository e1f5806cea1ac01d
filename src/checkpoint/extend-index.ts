import { CrunchError } from "../errors.js";
import { emitEntry, type IndexEntry, indexEntryOf } from "./index-entry.js";
import { bodyOf, type CheckpointIndex, invalid, pageText, withText } from "./index-file.js";
import { expiredCheckpoints, isSettled, type RetentionPolicy } from "./retention.js";
import type { Checkpoint } from "./schema.js";

/** What one more checkpoint does to the index of its chain. */
export interface ExtendedIndex {
  readonly index: CheckpointIndex;
  /** Pages that are full now, to be written once and never again. */
  readonly pages: readonly { readonly number: number; readonly text: string }[];
  /** Entries whose checkpoints retention takes away now. */
  readonly removed: readonly IndexEntry[];
}

const pageSize = 128;
/** The newest entries stay at hand: in a short chain, all of them, so that short ids are seen to be taken. */
const newest = 32;

/** The cost is that of `index.yaml`, which holds no more than a page and a few: it does not grow with history. */
export function extendIndex(
  before: CheckpointIndex | null,
  checkpoint: Checkpoint,
  options: { readonly retention?: RetentionPolicy | undefined; readonly compressed?: boolean } = {},
): ExtendedIndex {
  const { checkpoint_id: latest, issue_number } = checkpoint;
  const added = { ...indexEntryOf(checkpoint), ...(options.compressed ? { compressed: true as const } : {}) };
  const entries = before?.checkpoints ?? [];
  refuseForeign(before, checkpoint);
  const expired = new Set(
    options.retention ? expiredCheckpoints(entries, options.retention, checkpoint) : [],
  );
  const removed = entries.filter(({ checkpoint_id }) => expired.has(checkpoint_id));
  const marked = entries.map((entry) =>
    expired.has(entry.checkpoint_id) ? { ...entry, removed_at: checkpoint.created_at } : entry,
  );
  const { full, rest } = paged([...marked, added], options.retention);
  const pages = before?.pages ?? 0;
  const next = {
    ...{ issue_number, latest, checkpoints: rest },
    ...{ total_checkpoints: (before?.total_checkpoints ?? 0) + 1, pages: pages + full.length },
  };
  const isAppended = before !== null && expired.size === 0 && full.length === 0;
  return {
    index: withText(next, isAppended ? bodyOf(before) + emitEntry(added) : undefined),
    pages: full.map((page, at) => {
      const number = pages + at + 1;
      return { number, text: pageText(issue_number, number, page) };
    }),
    removed,
  };
}

/** Takes the oldest entries out that will never change any more, a page at a time. */
function paged(entries: readonly IndexEntry[], policy: RetentionPolicy | undefined) {
  const full: IndexEntry[][] = [];
  if (entries.length < newest + pageSize) return { full, rest: entries };
  const settled = entries.slice(0, -newest).filter(isSettled(entries, policy));
  while (settled.length >= pageSize) full.push(settled.splice(0, pageSize));
  const gone = new Set(full.flat());
  return { full, rest: entries.filter((entry) => !gone.has(entry)) };
}

function refuseForeign(index: CheckpointIndex | null, { issue_number, checkpoint_id }: Checkpoint): void {
  if (index === null) return;
  if (index.issue_number !== issue_number)
    throw invalid(`it belongs to issue ${index.issue_number}, not to issue ${issue_number}`);
  if (index.checkpoints.at(-1)?.checkpoint_id !== index.latest)
    throw invalid("its latest checkpoint is not among its entries");
  if (!index.checkpoints.some((entry) => entry.checkpoint_id === checkpoint_id)) return;
  throw idTaken(checkpoint_id);
}

export function idTaken(id: string): CrunchError {
  return new CrunchError({
    code: "checkpoint_id_taken",
    message: `The chain already has the checkpoint ${id}.`,
    hint: "Create the checkpoint again: it gets a new id.",
  });
}
