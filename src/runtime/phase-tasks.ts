import { blockedTasks, pendingBatches } from "../checkpoint/execution-graph.js";
import { CrunchError, messageOf } from "../errors.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { TaskContext } from "../workflow/definition.js";
import { taskKey } from "../workflow/replay.js";
import type { PhaseRun } from "./phase-run.js";
import { within } from "./within.js";

/** Not a task: what a phase came to, kept while a person is asked about it. */
export const outputTask = "$output";

/** A task to plan: what it waits for, and what it is given. */
export interface PlannedTask {
  readonly dependsOn?: readonly string[];
  readonly item?: unknown;
}

type Work<S> = (task: string, context: TaskContext<S, unknown>) => unknown;

/**
 * Runs the tasks of a phase batch by batch, with a checkpoint after each. What is complete from an earlier try stays
 * so; a task that fails keeps only those from running that need it. Gives what each task came to, in their order.
 */
export async function runTasks<S extends StateOf>(
  run: PhaseRun<S>,
  planned: () => Readonly<Record<string, PlannedTask>>,
  work: Work<S>,
  parallel = Number.POSITIVE_INFINITY,
): Promise<readonly unknown[]> {
  plan(run, planned);
  const prefix = taskKey(run.name, "");
  const errors: unknown[] = [];
  const batches = pendingBatches(nodesOf(run));
  for (const [at, batch] of batches.entries()) {
    const isReady = (key: string) =>
      (run.recorder.record.nodes[key]?.depends_on ?? []).every((each) => isComplete(run, each));
    const tasks = batch.filter(isReady).map((key) => key.slice(prefix.length));
    if (tasks.length === 0) continue;
    await inParallel(tasks, parallel, async (task) => {
      const error = await runTask(run, task, work);
      if (error !== null) errors.push(error);
    });
    await run.batchCompleted(at === batches.length - 1);
  }
  const nodes = Object.entries(nodesOf(run));
  const failed = nodes.filter(([, { status }]) => status === "failed");
  // The only task is the phase itself.
  if (nodes.length === 1 && errors.length === 1) throw errors[0];
  if (failed.length > 0 || blockedTasks(nodesOf(run)).length > 0) throw tasksFailed(failed, prefix);
  return nodes.map(([, { result }]) => (result === null ? undefined : fromJson(result)));
}

/**
 * One task; gives the error it failed with. `take` gives what the data becomes by its output: that and the task's
 * completion are told together, so that no checkpoint, which another phase may make at any moment, holds one of them
 * alone.
 */
export async function runTask<S extends StateOf>(
  run: PhaseRun<S>,
  task: string,
  work: Work<S>,
  take: (output: unknown) => S | null = () => null,
): Promise<unknown> {
  const { recorder, name: phase } = run;
  recorder.tell({ type: "task:started", phase, task, at: run.now() });
  try {
    const { input } = recorder.record.nodes[taskKey(phase, task)] ?? {};
    const item = input === undefined ? undefined : fromJson(input);
    const output = await within(`The task ${task} of ${phase}`, run.limits.run, run.signal, (signal) =>
      work(task, { ...run.context(), signal, task, item }),
    );
    const state = take(output);
    recorder.tell({ type: "task:completed", phase, task, at: run.now(), result: toJson(output) });
    if (state !== null) recorder.take(state);
    return null;
  } catch (error) {
    // Asked to stop, it has not failed: the next session runs it again.
    run.signal.throwIfAborted();
    recorder.tell({ type: "task:failed", phase, task, at: run.now(), error: run.failure(error) });
    return error;
  }
}

function plan<S extends StateOf>(
  run: PhaseRun<S>,
  planned: () => Readonly<Record<string, PlannedTask>>,
): void {
  const nodes = Object.entries(nodesOf(run));
  const { recorder, name: phase } = run;
  const prefix = taskKey(phase, "");
  if (nodes.length === 0) {
    const tasks = Object.entries(planned()).map(([task, { dependsOn = [], item }]) => [
      task,
      { depends_on: [...dependsOn], ...(item === undefined ? {} : { input: toJson(item) }) },
    ]);
    if (tasks.length > 0) recorder.tell({ type: "tasks:planned", phase, tasks: Object.fromEntries(tasks) });
    return;
  }
  // Another try: what failed is to be done again.
  const again = nodes.filter(([, { status }]) => status === "failed");
  if (again.length === 0) return;
  const tasks = again.map(([key, { depends_on, input }]) => [
    key.slice(prefix.length),
    {
      depends_on: depends_on.map((each) => each.slice(prefix.length)),
      ...(input === undefined ? {} : { input }),
    },
  ]);
  recorder.tell({ type: "tasks:planned", phase, tasks: Object.fromEntries(tasks) });
}

export function nodesOf<S extends StateOf>({ recorder, name }: PhaseRun<S>) {
  const prefix = taskKey(name, "");
  return Object.fromEntries(
    Object.entries(recorder.record.nodes).filter(
      ([key]) => key.startsWith(prefix) && key !== prefix + outputTask,
    ),
  );
}

function isComplete<S extends StateOf>({ recorder }: PhaseRun<S>, key: string): boolean {
  const status = recorder.record.nodes[key]?.status;
  return status === "complete" || status === "skipped";
}

async function inParallel(
  tasks: readonly string[],
  most: number,
  work: (task: string) => Promise<void>,
): Promise<void> {
  const waiting = tasks[Symbol.iterator]();
  const worker = async () => {
    for (const task of waiting) await work(task);
  };
  const settled = await Promise.allSettled(Array.from({ length: Math.min(most, tasks.length) }, worker));
  for (const each of settled) if (each.status === "rejected") throw each.reason;
}

export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

export function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CrunchError({
      code: "result_unreadable",
      message: `What a task came to can't be read back: ${messageOf(cause)}`,
      hint: "Roll back to a checkpoint before that task.",
      cause,
    });
  }
}

function tasksFailed(failed: readonly (readonly [string, { result: string | null }])[], prefix: string) {
  const reasons = failed.map(([key, { result }]) => `${key.slice(prefix.length)} (${result})`);
  return new CrunchError({
    code: "tasks_failed",
    message: `${failed.length} of the tasks failed: ${reasons.join(", ").slice(0, 2_000)}`,
    hint: "The others are complete and stay so. Try again to run only those that failed.",
  });
}
