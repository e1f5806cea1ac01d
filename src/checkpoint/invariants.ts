import type { IndexEntry } from "./index-file.js";
import type { Checkpoint } from "./schema.js";

/** A chain as it was read back: every checkpoint here has been verified by its hash. */
export interface Chain {
  readonly issue: number;
  readonly latest: Checkpoint | null;
  readonly index: readonly IndexEntry[];
  readonly checkpoints: ReadonlyMap<string, Checkpoint>;
}

type Invariant = (chain: Chain) => readonly string[];

/** What holds for every chain at any time, whatever crashed. Each gives what it finds wrong, for a person to read. */
const invariants: readonly Invariant[] = [
  function latestIsTheNewestOfTheIndex({ latest, index }) {
    const newest = index.at(-1)?.checkpoint_id ?? null;
    const pointed = latest?.checkpoint_id ?? null;
    return newest === pointed ? [] : [`latest points to ${pointed}, the index ends with ${newest}`];
  },
  function everyIndexEntryHasItsCheckpoint({ index, checkpoints }) {
    return index
      .filter(({ checkpoint_id }) => !checkpoints.has(checkpoint_id))
      .map(({ checkpoint_id }) => `${checkpoint_id} is in the index, but its file is missing`);
  },
  function everyIdIsUsedOnce({ index }) {
    const ids = index.map(({ checkpoint_id }) => checkpoint_id);
    return ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id} is in the index twice`);
  },
  function everyParentComesBefore({ index, checkpoints }) {
    const seen = new Set<string>();
    const found: string[] = [];
    for (const { checkpoint_id: id } of index) {
      const parent = checkpoints.get(id)?.parent_checkpoint_id ?? null;
      if (parent === null && seen.size > 0) found.push(`${id} has no parent, but is not the first`);
      if (parent !== null && !seen.has(parent))
        found.push(`${id} names the parent ${parent}, which does not come before it`);
      seen.add(id);
    }
    return found;
  },
  function everyCheckpointIsOfThisIssue({ issue, checkpoints }) {
    return [...checkpoints.values()]
      .filter((checkpoint) => checkpoint.issue_number !== issue)
      .map((checkpoint) => `${checkpoint.checkpoint_id} belongs to issue ${checkpoint.issue_number}`);
  },
  function aPhaseVersionSucceedsOnce({ checkpoints }) {
    const ended = [...checkpoints.values()].filter(
      ({ type, outcome, trigger }) =>
        type === "POST" && outcome === "succeeded" && trigger === "phase_transition",
    );
    const keys = ended.map(({ workflow_state, phase_version, orchestrator_state: { run_id } }) =>
      [run_id, workflow_state.current_phase, phase_version].join(" "),
    );
    return keys.filter((key, at) => keys.indexOf(key) !== at).map((key) => `${key} succeeded twice`);
  },
];

export function problemsOf(chain: Chain): readonly string[] {
  return invariants.flatMap((check) => check(chain));
}
