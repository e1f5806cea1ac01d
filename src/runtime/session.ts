import { randomBytes, randomUUID } from "node:crypto";
import { defaultRetention, type RetentionPolicy } from "../checkpoint/retention.js";
import type { RunEvent } from "../checkpoint/run-event.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore, Clock } from "../ports.js";
import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import { Recorder } from "./recorder.js";
import { commitToStore } from "./store-commit.js";

export interface RunOptions {
  readonly store: CheckpointStore;
  /** The chain's number in the store; for a run that belongs to an issue, that of the issue. */
  readonly issue: number;
  readonly title?: string;
  /** Begins a new run although there is one. */
  readonly restart?: boolean;
  /** Tries again what failed the last time. */
  readonly retryFailed?: boolean;
  /** Told to stop, the run saves what is done, and the next call goes on from there. */
  readonly signal?: AbortSignal;
  /** How long a session waits for the next try of a phase; for a longer wait it ends. Default a minute. */
  readonly maxWaitMs?: number;
  /** How many checkpoints of each kind are kept in each phase, else as by default; without any of it, all are. */
  readonly retention?: Partial<RetentionPolicy>;
  readonly onEvent?: (event: RunEvent) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface Session<S extends StateOf> {
  readonly workflow: WorkflowDefinition<S>;
  readonly recorder: Recorder<S>;
  readonly now: () => Date;
}

export async function openSession<S extends StateOf>(
  workflow: WorkflowDefinition<S>,
  options: RunOptions,
): Promise<Session<S>> {
  const { store, issue, title = workflow.name, onEvent = () => {} } = options;
  const now = () => options.clock?.now() ?? new Date();
  const latest = await store.latest(issue);
  if (latest && !options.restart && latest.workflow_state.workflow !== workflow.name)
    throw otherWorkflow(latest, workflow.name);
  const maker = { now, randomHex: () => randomBytes(32).toString("hex"), sessionId: `SES-${randomUUID()}` };
  const isNewRun = latest === null || options.restart === true;
  const commit = commitToStore({
    ...{ store, issue, title, workflow: workflow.name, maker },
    retention: options.retention && { ...defaultRetention, ...options.retention },
  });
  const recorder = new Recorder<S>({ workflow, commit, now, onEvent }, latest, isNewRun);
  return { workflow, recorder, now };
}

function otherWorkflow(latest: Checkpoint, name: string): CrunchError {
  return new CrunchError({
    code: "other_workflow",
    message: `The run of issue ${latest.issue_number} is one of the workflow ${latest.workflow_state.workflow}, not of ${name}.`,
    hint: "Go on with that one, or begin anew with `restart: true`.",
  });
}
