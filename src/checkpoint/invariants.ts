import type { IndexEntry } from "./index-entry.js";
import type { Checkpoint } from "./schema.js";

/** A chain as it was read back: every checkpoint here has been verified by its hash. */
export interface Chain {
  readonly issue: number;
  readonly latest: Checkpoint | null;
  /** All entries in stored order, also of what retention took away. */
  readonly index: readonly IndexEntry[];
  /** Those that are still there. */
  readonly checkpoints: ReadonlyMap<string, Checkpoint>;
  /** Whether the issue's folder has a file; left out where nobody looked. */
  readonly hasFile?: (path: string) => boolean;
}

type Invariant = (chain: Chain) => readonly string[];

/** What holds for every chain at any time, whatever crashed. Each gives what it finds wrong, for a person to read. */
const invariants: readonly Invariant[] = [
  function latestIsTheNewestOfTheIndex({ latest, index }) {
    const newest = index.at(-1)?.checkpoint_id ?? null;
    const pointed = latest?.checkpoint_id ?? null;
    return newest === pointed ? [] : [`latest points to ${pointed}, the index ends with ${newest}`];
  },
  function everyEntryHasItsCheckpointOrIsMarkedRemoved({ index, checkpoints }) {
    return index
      .filter(({ checkpoint_id, removed_at }) => removed_at === undefined && !checkpoints.has(checkpoint_id))
      .map(({ checkpoint_id }) => `${checkpoint_id} is in the index, but its file is missing`);
  },
  function theLatestIsNeverRemoved({ index }) {
    const newest = index.at(-1);
    return newest?.removed_at === undefined ? [] : [`${newest.checkpoint_id} is the latest, and removed`];
  },
  function everyIdIsUsedOnce({ index }) {
    return repeatedOf(index.map(({ checkpoint_id }) => checkpoint_id)).map(
      (id) => `${id} is in the index twice`,
    );
  },
  function placesGoUpByOne({ index, checkpoints }) {
    return index.flatMap(({ checkpoint_id: id, sequence }, at) => {
      const own = checkpoints.get(id)?.sequence ?? sequence;
      return own === at + 1 && sequence === own
        ? []
        : [`${id} says that it is number ${own}, the index has it as number ${sequence}, at place ${at + 1}`];
    });
  },
  function theIndexSaysWhatTheCheckpointsSay({ index, checkpoints }) {
    return index.flatMap(({ checkpoint_id: id, trigger, parent_checkpoint_id }) => {
      const own = checkpoints.get(id);
      const isSame = own?.trigger === trigger && own.parent_checkpoint_id === parent_checkpoint_id;
      return own === undefined || isSame ? [] : [`${id} has another trigger or parent than its index entry`];
    });
  },
  function everyParentComesBefore({ index }) {
    const seen = new Set<string>();
    const found: string[] = [];
    for (const [at, { checkpoint_id: id, parent_checkpoint_id: parent, trigger }] of index.entries()) {
      const before = index[at - 1]?.checkpoint_id ?? null;
      if (parent === null && at > 0) found.push(`${id} has no parent, but is not the first`);
      else if (parent !== null && !seen.has(parent))
        found.push(`${id} names the parent ${parent}, which does not come before it`);
      else if (parent !== before && trigger !== "rollback")
        found.push(`${id} names the parent ${parent}, but follows ${before} and is no rollback`);
      seen.add(id);
    }
    return found;
  },
  function aRollbackKeepsWhatItWentBackTo({ index }) {
    const removed = new Set(index.filter((entry) => entry.removed_at).map((entry) => entry.checkpoint_id));
    return index
      .filter(({ trigger, removed_at }) => trigger === "rollback" && removed_at === undefined)
      .filter(({ parent_checkpoint_id: parent }) => parent !== null && removed.has(parent))
      .map(
        ({ checkpoint_id: id, parent_checkpoint_id: parent }) => `${id} went back to ${parent}, now removed`,
      );
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
    return repeatedOf(keys).map((key) => `${key} succeeded twice`);
  },
  function everyArtifactIsThere({ checkpoints, hasFile }) {
    if (!hasFile) return [];
    return [...checkpoints.values()].flatMap((checkpoint) =>
      artifactPaths(checkpoint)
        .filter((path) => !hasFile(path))
        .map((path) => `${checkpoint.checkpoint_id} names ${path}, which is missing`),
    );
  },
];

export function problemsOf(chain: Chain): readonly string[] {
  return invariants.flatMap((check) => check(chain));
}

/** Where the bytes are that a checkpoint names by their hash, in the issue's folder. */
export function artifactPaths({ artifacts, notes, partial_work }: Checkpoint): readonly string[] {
  const named = [...Object.values(artifacts), ...Object.values(notes), ...partial_work];
  const hashes = named.map(({ hash }) => hash).filter((hash) => hash !== null);
  return [...new Set(hashes)].map((hash) => `artifacts/${hash}`);
}

function repeatedOf(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
}
