import { type Change, changed } from "./changes.js";
import type { Contents } from "./diff-files.js";
import { type DiffParts, diffParts } from "./diff-parts.js";
import type { Checkpoint } from "./schema.js";

/** Which checkpoint it is, and the state of the run it was made in. */
export type Side = Pick<
  Checkpoint,
  "checkpoint_id" | "sequence" | "type" | "trigger" | "outcome" | "created_at" | "duration_ms" | "note"
> & {
  readonly phase: string;
  readonly attempt: number;
  readonly version: number;
  /** How many files of the repo its phase has changed. */
  readonly files: number;
};

/** What differs between two checkpoints, told forwards in time. What does not differ is null or empty. */
export interface CheckpointDiff {
  readonly older: Readonly<Side>;
  readonly newer: Readonly<Side>;
  /** The caller named the newer one first. */
  readonly isSwapped: boolean;
  /** Nothing of the run differs; the checkpoints may still have other ids, times and triggers. */
  readonly isSame: boolean;
  readonly elapsedMs: number;
  readonly trigger: Change<Side["trigger"]> | null;
  readonly parts: DiffParts;
}

/** Contents that checkpoints only name by hash: `before` is of the first checkpoint given, `after` of the second. */
export interface Extra {
  readonly notes?: Contents;
  readonly artifacts?: Contents;
}

export function compareCheckpoints(a: Checkpoint, b: Checkpoint, extra: Extra = {}): CheckpointDiff {
  const isSwapped = isNewer(a, b);
  const [older, newer] = isSwapped ? [b, a] : [a, b];
  const contents = (given: Contents = {}) => (isSwapped ? swapped(given) : given);
  const parts = diffParts(older, newer, contents(extra.notes), contents(extra.artifacts));
  return {
    older: sideOf(older),
    newer: sideOf(newer),
    isSwapped,
    isSame: Object.values(parts).every((part) => part === null || (Array.isArray(part) && part.length === 0)),
    elapsedMs: Math.max(0, Date.parse(newer.created_at) - Date.parse(older.created_at)),
    trigger: changed(older.trigger, newer.trigger),
    parts,
  };
}

/** A chain's own order says which came first; clocks of several machines need not agree. */
function isNewer(a: Checkpoint, b: Checkpoint): boolean {
  if (a.sequence !== b.sequence) return a.sequence > b.sequence;
  return Date.parse(a.created_at) > Date.parse(b.created_at);
}

function sideOf(checkpoint: Checkpoint): Side {
  const { checkpoint_id, sequence, type, trigger, outcome, created_at, duration_ms, note } = checkpoint;
  return {
    ...{ checkpoint_id, sequence, type, trigger, outcome, created_at, duration_ms, note },
    phase: checkpoint.workflow_state.current_phase,
    attempt: checkpoint.workflow_state.phase_attempt,
    version: checkpoint.phase_version,
    files: checkpoint.files_modified.length,
  };
}

function swapped(contents: Contents): Contents {
  const turned = Object.entries(contents).map(([key, text]) => [
    key,
    { before: text.after, after: text.before },
  ]);
  return Object.fromEntries(turned);
}
