import type { CheckpointChange } from "../checkpoint/create.js";
import type { RunEvent, RunState } from "../checkpoint/run-event.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import { apply, emptyRecord, type RunRecord, recordOf, stateChange } from "../workflow/replay.js";

/** Why a checkpoint is made, and the phase it is about. */
export interface Moment {
  readonly type: Checkpoint["type"];
  readonly trigger: Checkpoint["trigger"];
  readonly outcome: Checkpoint["outcome"];
  readonly phase: string;
  readonly error?: Checkpoint["error"];
}

/** What a run has become, to be committed on top of the latest checkpoint. */
export interface Commit {
  readonly moment: Moment;
  readonly latest: Checkpoint | null;
  /** It takes nothing over from the run before it on the same issue. */
  readonly isNewRun: boolean;
  readonly phases: RunRecord["phases"];
  /** What the checkpoint says of it, on top of the rest of the run. */
  change(run: Omit<Checkpoint, "checkpoint_id" | "parent_checkpoint_id">): CheckpointChange;
}

export interface RecorderOptions<S extends StateOf> {
  readonly workflow: Pick<WorkflowDefinition<S>, "name" | "first" | "initial" | "snapshotEvery" | "graph">;
  /** Stores it and gives the checkpoint; throws when another session came first. */
  readonly commit: (commit: Commit) => Promise<Checkpoint>;
  readonly now: () => Date;
  readonly onEvent: (event: RunEvent) => void;
}

/** Holds what a run is, changes it by events alone, and commits it. */
export class Recorder<S extends StateOf> {
  readonly record: RunRecord;
  #latest: Checkpoint | null;
  #events: RunEvent[] = [];
  #saving: Promise<unknown> = Promise.resolve();
  #broken: unknown = null;
  /** The phase that was last heard of, and whether so much happened that a checkpoint is on its way. */
  #phase: string;
  #isFull = false;
  #tasks = 0;

  constructor(
    private readonly options: RecorderOptions<S>,
    latest: Checkpoint | null,
    isNewRun: boolean,
  ) {
    this.#latest = latest;
    this.#phase = options.workflow.first;
    this.record = latest && !isNewRun ? recordOf(latest) : emptyRecord();
    this.#tasks = Object.keys(this.record.nodes).length;
    if (
      latest &&
      Object.values(this.record.questions).some(({ checkpoint_id }) => checkpoint_id === undefined)
    ) {
      // The session that asked did not live to hear of it.
      const { checkpoint_id, trigger } = latest;
      this.tell({ type: "checkpoint:created", checkpoint_id, trigger });
    }
    if (isNewRun) {
      const state = asJson(options.workflow.initial);
      this.tell({ type: "run:started", workflow: options.workflow.name, state });
    }
  }

  /** Why nothing more can be committed; null while it can. */
  get broken(): unknown {
    return this.#broken;
  }

  get latest(): Checkpoint | null {
    return this.#latest;
  }

  tell(...events: readonly RunEvent[]): void {
    for (const event of events) {
      apply(this.options.workflow.graph, this.record, event);
      this.#events.push(event);
      this.options.onEvent(event);
      if ("phase" in event) this.#phase = event.phase;
      if (event.type === "tasks:planned") this.#tasks += Object.keys(event.tasks).length;
    }
    // Not more often than the run is large: what a snapshot costs grows with its tasks.
    const most = Math.max(this.options.workflow.snapshotEvery, this.#tasks);
    if (this.#events.length < most || this.#isFull) return;
    this.#isFull = true;
    // Its failure is found by whoever saves next.
    this.save({ type: "PRE", trigger: "every_n_events", outcome: null, phase: this.#phase }).catch(() => {});
  }

  /** Changes the workflow's data by a function that changes a copy of it. */
  update(change: (draft: S) => void): void {
    this.take(this.changed(change));
  }

  /** Takes over what the data has become. */
  take(state: S): void {
    const event = stateChange(this.record.state, asJson(state));
    if (event) this.tell(event);
  }

  /** What the data would be after a change. */
  changed(change: (draft: S) => void): S {
    const draft = this.state();
    change(draft);
    return draft;
  }

  /** A copy of the workflow's data. */
  state(): S {
    return structuredClone(this.record.state) as S;
  }

  /** Commits what has happened so far. One after the other: each builds on the one before. */
  save(moment: Moment): Promise<void> {
    const saved = this.#saving.then(() => {
      // What follows one that was not stored would stand on nothing.
      if (this.#broken !== null) throw this.#broken;
      return this.#commit(moment);
    });
    this.#saving = saved.catch((error: unknown) => {
      this.#broken ??= error;
    });
    return saved;
  }

  async #commit(moment: Moment): Promise<void> {
    const events = this.#events;
    this.#events = [];
    this.#isFull = false;
    const isNewRun = events[0]?.type === "run:started";
    const own = this.#change(moment, events);
    const { phases } = this.record;
    const next = await this.options.commit({
      ...{ moment, latest: this.#latest, isNewRun, phases: { ...phases } },
      change: (run) => own(run),
    });
    this.#latest = next;
    for (const event of missedAnswers(this.record, next)) this.tell(event);
    this.tell({ type: "checkpoint:created", checkpoint_id: next.checkpoint_id, trigger: next.trigger });
  }

  /** Of the record as it is now: what happens while it is stored belongs to the next checkpoint. */
  #change({ phase, error = null, ...kind }: Moment, events: RunEvent[]): Commit["change"] {
    const { record } = this;
    const now = this.options.now().toISOString();
    const state = record.phases[phase];
    const phases = { ...record.phases };
    const completed = Object.keys(phases).filter((name) => phases[name]?.status === "succeeded");
    const graph = {
      completed_batches: record.completedBatches,
      current_batch: record.completedBatches.length + 1,
      node_states: { ...record.nodes },
    };
    const run_state = { state: record.state, questions: { ...record.questions } };
    const workflow_state = {
      workflow: this.options.workflow.name,
      current_phase: phase,
      current_state_label: `state:${phase}`,
      phase_started_at: now,
      phase_attempt: state?.attempt ?? 0,
    };
    return ({ orchestrator_state, execution_graph }) => ({
      ...kind,
      ...{ error, phase_version: state?.version ?? 0, workflow_state, run_state, events },
      orchestrator_state: {
        ...orchestrator_state,
        current_phase: phase,
        completed_phases: completed,
        phases,
      },
      execution_graph: { ...execution_graph, ...graph },
    });
  }
}

/** Answers that people gave while this session worked: they are in what it was stored on top of. */
function missedAnswers({ questions }: RunRecord, { run_state }: Checkpoint): RunEvent[] {
  return Object.entries(run_state?.questions ?? {}).flatMap(([phase, { answers }]) =>
    answers.slice(questions[phase]?.answers.length ?? answers.length).map((answer) => {
      return { type: "input:received", phase, answer };
    }),
  );
}

/** The data as JSON has it: what JSON can't say is refused at once and not lost at the next start. */
function asJson(value: unknown): RunState["state"] {
  const text = JSON.stringify(value);
  const back: unknown = text === undefined ? undefined : JSON.parse(text);
  if (typeof back === "object" && back !== null && !Array.isArray(back)) return back as RunState["state"];
  throw new CrunchError({
    code: "state_not_json",
    message: "The data of a workflow has to be an object that JSON can say.",
    hint: "Keep functions, dates, maps and the like out of it.",
  });
}
