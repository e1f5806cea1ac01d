import { emptyRun, firstCheckpoint, type Maker, nextCheckpoint } from "../checkpoint/create.js";
import type { RetentionPolicy } from "../checkpoint/retention.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore } from "../ports.js";
import type { Commit } from "./recorder.js";

export interface StoreCommitOptions {
  readonly store: CheckpointStore;
  readonly issue: number;
  readonly title: string;
  readonly workflow: string;
  readonly maker: Maker;
  /** Which older checkpoints go; without a policy, none. */
  readonly retention?: RetentionPolicy | undefined;
}

/** Commits what a run has become to a store, with nothing around it. */
export function commitToStore(options: StoreCommitOptions): (commit: Commit) => Promise<Checkpoint> {
  const { issue, maker } = options;
  return async (commit) => {
    const { latest, isNewRun, change } = commit;
    const make = () => {
      if (latest === null) {
        const run = freshRun(options, commit);
        return firstCheckpoint(run, change(run), maker);
      }
      const run = isNewRun ? freshRun(options, commit) : latest;
      return nextCheckpoint(latest, { ...(isNewRun ? run : {}), ...change(run) }, maker);
    };
    const { next, result } = await putNew(options, make, latest?.checkpoint_id ?? null);
    if (result.status === "conflict") throw gaveWay(issue, result.latest);
    return next;
  };
}

function freshRun({ issue, title, workflow, maker }: StoreCommitOptions, { moment, phases }: Commit) {
  const snapshot = {
    ...{ title, body: "", labels: [], assignees: [], branch: null, head_sha: null },
    ...{ base_branch: "main", base_sha: "0".repeat(40) },
  };
  const { phase } = moment;
  return emptyRun({ issue, workflow, phase, phases, snapshot, startedBy: maker.sessionId, maker });
}

/** Ids are short, and made by chance: one that is taken is made anew. */
async function putNew(
  { store, retention }: StoreCommitOptions,
  make: () => Checkpoint,
  expectedLatest: string | null,
) {
  for (let tries = 1; ; tries++) {
    const next = make();
    try {
      return { next, result: await store.put(next, { expectedLatest, ...(retention && { retention }) }) };
    } catch (error) {
      if (!(error instanceof CrunchError) || error.code !== "checkpoint_id_taken" || tries === 5) throw error;
    }
  }
}

export function gaveWay(issue: number, latest: Checkpoint | null): CrunchError {
  return new CrunchError({
    code: "gave_way",
    message: `Another session has gone on with issue ${issue}: ${latest?.checkpoint_id ?? "its chain"} is the latest now.`,
    hint: "Only one session works on a run at a time. What this one had saved is part of the chain.",
  });
}
