import { CrunchError, messageOf } from "../errors.js";
import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import type { PhaseContext, PhaseDefinition, TimeLimits } from "../workflow/definition.js";
import type { Recorder } from "./recorder.js";

/** One try of one phase, while it lasts. */
export interface PhaseRun<S extends StateOf> {
  readonly name: string;
  readonly workflow: WorkflowDefinition<S>;
  readonly phase: Exclude<PhaseDefinition<S, string>, { type: "terminal" }>;
  readonly recorder: Recorder<S>;
  readonly signal: AbortSignal;
  /** Ends the try without a result: what it does no longer counts. */
  cancel(reason: unknown): void;
  readonly limits: TimeLimits;
  readonly random: () => number;
  now(): string;
  context(): PhaseContext<S>;
  failure(error: unknown): { readonly code: string; readonly message: string };
  batchCompleted(isLast: boolean): Promise<void>;
}

export interface PhaseRunOptions<S extends StateOf> {
  readonly name: string;
  readonly workflow: WorkflowDefinition<S>;
  readonly recorder: Recorder<S>;
  /** The session is asked to stop. */
  readonly stop: AbortSignal;
  readonly now: () => Date;
  readonly random: () => number;
  readonly savesBatch: (isLast: boolean) => boolean;
}

export function createPhaseRun<S extends StateOf>(options: PhaseRunOptions<S>): PhaseRun<S> {
  const { name, workflow, recorder } = options;
  const own = new AbortController();
  const signal = AbortSignal.any([options.stop, own.signal]);
  const phase = workflow.phases[name];
  if (!phase || phase.type === "terminal") throw new Error(`nothing runs in the phase ${name}`);
  let batches = 0;
  return {
    ...{ name, workflow, phase, recorder, signal, random: options.random },
    cancel: (reason) => own.abort(reason),
    limits: phase.timeLimits ?? {},
    now: () => options.now().toISOString(),
    context() {
      const { attempt = 1, version = 1, retries = 0 } = recorder.record.phases[name] ?? {};
      return { state: recorder.state(), phase: name, attempt, version, retries, signal };
    },
    failure: failureOf,
    async batchCompleted(isLast) {
      batches++;
      recorder.tell({ type: "batch:completed", phase: name, batch: batches });
      if (!options.savesBatch(isLast)) return;
      await recorder.save({ type: "POST", trigger: "batch_complete", outcome: "succeeded", phase: name });
    },
  };
}

export function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  return { code: error instanceof CrunchError ? error.code : "error", message: messageOf(error) };
}
