import { randomBytes } from "node:crypto";
import { type Maker, rebased } from "../checkpoint/create.js";
import type { Checkpoint, Holder } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type {
  CheckpointStore,
  Clock,
  CodeHost,
  CommandRunner,
  FileChange,
  Issue,
  Log,
  WorkspaceProvider,
} from "../ports.js";
import { keepTrying } from "./keep-trying.js";
import type { Plan } from "./plan.js";

/**
 * What to do about the issue's state label: `set` it; `keep` it in step, unless a person took it off; or `leave` it,
 * because a person has just changed it and the answer is not known yet.
 */
export type LabelRule = "set" | "keep" | "leave";

/** What a session shows to the outside after each commit. Made by the app, which knows how things look. */
export interface Projector {
  project(
    checkpoint: Checkpoint,
    options: { readonly issue: Issue; readonly label: LabelRule },
  ): Promise<Projected>;
}

export interface Projected {
  /** What the next checkpoint is to know of what is shown. */
  readonly projections: Checkpoint["projections"];
  /** The issue with its labels as they are now. */
  readonly issue: Issue;
  /** The commit the code branch was just seen at or moved to; undefined when nobody looked. */
  readonly branchSeen?: string | undefined;
}

/** One process working on one issue: what it holds, and what it reaches the outside through. */
export interface Session {
  readonly id: string;
  readonly holder: Holder;
  readonly repository: string;
  readonly plan: Plan;
  readonly store: CheckpointStore;
  readonly code: CodeHost;
  readonly workspaces: WorkspaceProvider;
  readonly commands: CommandRunner;
  readonly projector: Projector;
  readonly redact: (text: string) => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly maker: Maker;
  /** The notes that agents left in this session, which need not be read back. */
  readonly notes: Map<string, string>;
}

/** What goes with a checkpoint into its commit. */
export interface CommitExtra {
  readonly files?: readonly FileChange[];
  readonly codeCommit?: string | null;
  /** Until when nobody else may take the run over, so that storing it may be tried again. */
  readonly heldUntil?: string | null;
}

export type Committed =
  | { readonly status: "stored"; readonly checkpoint: Checkpoint }
  | { readonly status: "gave_way"; readonly latest: Checkpoint | null };

export function randomHex(): string {
  return randomBytes(16).toString("hex");
}

/**
 * Stores a checkpoint. When another one came first, it is put on top of that as long as the lease is still ours
 * (a person saved a manual checkpoint meanwhile); else this session gives way.
 */
export async function commit(
  session: Session,
  checkpoint: Checkpoint,
  extra: CommitExtra = {},
): Promise<Committed> {
  let candidate = checkpoint;
  for (let tries = 0; tries < 10; tries++) {
    const result = await putOnce(session, candidate, extra);
    if (result === "id_taken") {
      candidate = { ...candidate, checkpoint_id: `${candidate.checkpoint_id}${randomHex().slice(0, 2)}` };
      continue;
    }
    if (result.status === "stored") {
      logStored(session, candidate);
      return { status: "stored", checkpoint: candidate };
    }
    const theirs = result.latest;
    if (theirs?.lease?.session_id !== session.id) return { status: "gave_way", latest: theirs };
    candidate = rebased(candidate, theirs, session.maker);
  }
  throw new CrunchError({
    code: "checkpoint_contended",
    message: "The checkpoint could not be stored: others kept storing theirs first.",
    hint: "Comment `/crunch` to go on from the latest checkpoint.",
  });
}

async function putOnce(session: Session, candidate: Checkpoint, { heldUntil = null, ...extra }: CommitExtra) {
  const { store, plan } = session;
  const { checkpoint_id: id, issue_number: issue, parent_checkpoint_id: expectedLatest } = candidate;
  try {
    return await keepTrying(session, `storing ${id}`, heldUntil, async (tries) => {
      // The try before may have taken place although its answer was lost: then it must not be stored twice.
      const there = tries === 0 ? null : await store.load(issue, id);
      if (there?.session_id === session.id) return { status: "stored" } as const;
      return store.put(candidate, { expectedLatest, retention: plan.retention, ...extra });
    });
  } catch (error) {
    if (error instanceof CrunchError && error.code === "checkpoint_id_taken") return "id_taken" as const;
    throw error;
  }
}

function logStored({ log }: Session, checkpoint: Checkpoint): void {
  const { checkpoint_id: id, issue_number: issue, type, trigger, outcome, workflow_state } = checkpoint;
  const fields = {
    event: "checkpoint",
    issue,
    id,
    type,
    trigger,
    outcome,
    phase: workflow_state.current_phase,
  };
  log.info(`checkpoint ${id} (${trigger})`, fields);
}
