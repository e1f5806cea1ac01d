import type { RunEvent, RunState } from "../checkpoint/run-event.js";
import type { Checkpoint, PhaseState } from "../checkpoint/schema.js";
import type { PhaseGraph } from "./graph.js";
import { orderOf } from "./graph.js";

type Nodes = Checkpoint["execution_graph"]["node_states"];
type Json = RunState["state"][string];

/** All that a run is made of. It is changed by events and by nothing else. */
export interface RunRecord {
  readonly phases: Record<string, PhaseState>;
  readonly nodes: Nodes;
  readonly questions: RunState["questions"];
  state: Record<string, Json>;
  completedBatches: number[];
}

export function emptyRecord(): RunRecord {
  return { phases: {}, nodes: {}, questions: {}, state: {}, completedBatches: [] };
}

/** The record that a checkpoint holds; a copy, which can be changed. */
export function recordOf(checkpoint: Checkpoint): RunRecord {
  const { orchestrator_state, execution_graph, run_state } = checkpoint;
  return {
    phases: { ...orchestrator_state.phases },
    nodes: { ...execution_graph.node_states },
    questions: { ...run_state?.questions },
    state: { ...run_state?.state },
    completedBatches: [...execution_graph.completed_batches],
  };
}

/** The record after these events. */
export function replay(graph: PhaseGraph, before: RunRecord, events: Iterable<RunEvent>): RunRecord {
  const record: RunRecord = {
    ...before,
    phases: { ...before.phases },
    nodes: { ...before.nodes },
    questions: { ...before.questions },
  };
  for (const event of events) apply(graph, record, event);
  return record;
}

export const taskKey = (phase: string, task: string) => `${phase}/${task}`;

/** Changes a record in place: thousands of tasks would make copies of it dear. */
export function apply(graph: PhaseGraph, record: RunRecord, event: RunEvent): void {
  switch (event.type) {
    case "run:started":
      begin(graph, record, event.state);
      return;
    case "phase:started": {
      const { due: _, retry_at: __, stops, ...before } = phaseIn(record, event.phase);
      const visits = (before.visits ?? before.version) + (event.version > before.version ? 1 : 0);
      record.phases[event.phase] = {
        ...before,
        ...(before.visits !== undefined && { visits }),
        status: "running",
        attempt: event.attempt,
        version: event.version,
        // They are those of the attempts that are counted.
        ...(event.attempt > 1 && stops !== undefined && { stops }),
      };
      return;
    }
    case "phase:succeeded":
    case "phase:skipped": {
      const status = event.type === "phase:succeeded" ? "succeeded" : "skipped";
      const { due: _, retries: __, retry_at: ___, failure: ____, ...before } = phaseIn(record, event.phase);
      record.phases[event.phase] = { ...before, status, ...(event.next.length > 0 && { next: event.next }) };
      delete record.questions[event.phase];
      return;
    }
    case "phase:failed":
      change(record, event.phase, { status: "failed", failure: event.error });
      delete record.questions[event.phase];
      return;
    case "phase:stopped":
      change(record, event.phase, {
        ...{ status: "pending", due: true, stops: (phaseIn(record, event.phase).stops ?? 0) + 1 },
      });
      return;
    case "phase:retrying": {
      const { stops: _, ...before } = phaseIn(record, event.phase);
      const { retries, retry_at, error: failure } = event;
      record.phases[event.phase] = {
        ...before,
        ...{ status: "pending", due: true, attempt: 0, retries, retry_at, failure },
      };
      delete record.questions[event.phase];
      return;
    }
    case "run:moved":
      for (const [name, state] of Object.entries(event.phases)) {
        if (state.status === "pending" && !event.keep?.includes(name)) reset(record, name);
        record.phases[name] = state;
        delete record.questions[name];
      }
      return;
    case "phases:reset":
      for (const name of event.phases) reset(record, name);
      change(record, event.due, { due: true });
      return;
    case "input:requested": {
      const { question, at } = event;
      change(record, event.phase, { status: "waiting", ...(event.error && { failure: event.error }) });
      record.questions[event.phase] = { question, asked_at: at, answers: [] };
      return;
    }
    case "input:received": {
      const asked = record.questions[event.phase];
      const { by, at } = event.answer;
      // One that came while a session worked is told by whoever took it down, and by that session.
      const isKnown = asked?.answers.some((each) => each.by === by && each.at === at);
      if (asked && !isKnown)
        record.questions[event.phase] = { ...asked, answers: [...asked.answers, event.answer] };
      return;
    }
    case "input:closed":
      delete record.questions[event.phase];
      change(record, event.phase, { status: "running" });
      return;
    case "state:changed": {
      const state = { ...record.state, ...event.set };
      for (const key of event.unset) delete state[key];
      record.state = state;
      return;
    }
    case "batch:completed":
      record.completedBatches = [...record.completedBatches, event.batch];
      return;
    case "tasks:planned":
    case "task:started":
    case "task:reported":
    case "task:completed":
    case "task:failed":
    case "task:skipped":
      applyTask(record, event);
      return;
    case "checkpoint:created":
      for (const [phase, asked] of Object.entries(record.questions))
        record.questions[phase] = { checkpoint_id: event.checkpoint_id, ...asked };
      return;
    case "conflict:started":
    case "conflict:resolved":
    case "run:finished":
    case "run:failed":
      return;
  }
}

type TaskEvent = Extract<RunEvent, { type: `task${string}` }>;

function applyTask(record: RunRecord, event: TaskEvent): void {
  if (event.type === "tasks:planned") {
    for (const [task, { depends_on, input }] of Object.entries(event.tasks)) {
      record.nodes[taskKey(event.phase, task)] = {
        status: "pending",
        depends_on: depends_on.map((each) => taskKey(event.phase, each)),
        ...{ agent: null, started_at: null, completed_at: null, result: null },
        ...(input === undefined ? {} : { input }),
      };
    }
    return;
  }
  const key = taskKey(event.phase, event.task);
  const node = record.nodes[key];
  if (!node) throw new Error(`the run has no task ${key}`);
  switch (event.type) {
    case "task:started":
      record.nodes[key] = { ...node, status: "running", started_at: event.at };
      return;
    case "task:reported":
      record.nodes[key] = { ...node, result: event.result };
      return;
    case "task:completed":
      record.nodes[key] = { ...node, status: "complete", completed_at: event.at, result: event.result };
      return;
    case "task:failed":
      record.nodes[key] = {
        ...node,
        status: "failed",
        completed_at: event.at,
        result: event.error.message,
      };
      return;
    case "task:skipped":
      record.nodes[key] = { ...node, status: "skipped", result: event.reason };
  }
}

function begin(graph: PhaseGraph, record: RunRecord, state: unknown): void {
  for (const name of orderOf(graph).names)
    record.phases[name] = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
  change(record, graph.first, { due: true });
  record.state = state as Record<string, Json>;
}

function reset(record: RunRecord, name: string): void {
  // A workflow may have got the phase since the run began.
  const { version = 0, checkpoint_id = null } = record.phases[name] ?? {};
  record.phases[name] = { status: "pending", attempt: 0, version, checkpoint_id };
  delete record.questions[name];
  const prefix = taskKey(name, "");
  for (const key of Object.keys(record.nodes)) if (key.startsWith(prefix)) delete record.nodes[key];
}

function phaseIn(record: RunRecord, name: string): PhaseState {
  const phase = record.phases[name];
  if (!phase) throw new Error(`the run has no phase ${name}`);
  return phase;
}

function change(record: RunRecord, name: string, to: Partial<PhaseState>): void {
  record.phases[name] = { ...phaseIn(record, name), ...to };
}

/** What was set and taken away between two states of the data; null when nothing was. */
export function stateChange(
  before: Readonly<Record<string, Json>>,
  after: Readonly<Record<string, Json>>,
): Extract<RunEvent, { type: "state:changed" }> | null {
  const set = Object.fromEntries(Object.entries(after).filter(([key, value]) => !isSame(before[key], value)));
  const unset = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  if (Object.keys(set).length === 0 && unset.length === 0) return null;
  return { type: "state:changed", set, unset };
}

function isSame(a: Json | undefined, b: Json): boolean {
  return a === b || (a !== undefined && JSON.stringify(a) === JSON.stringify(b));
}
