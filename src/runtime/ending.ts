import type { RunEvent } from "../checkpoint/run-event.js";
import { CrunchError } from "../errors.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { Next } from "../workflow/definition.js";
import { orderOf } from "../workflow/graph.js";
import { retryDelay } from "../workflow/retry.js";
import { ask, errorQuestion } from "./asking.js";
import type { PhaseRun } from "./phase-run.js";

export interface Success<S> {
  readonly output: unknown;
  /** What the data becomes by it; without, it stays as it is. */
  readonly state?: S;
  /** Where it leads, if not where its output sends it. */
  readonly to?: readonly string[];
}

/** The phase is done, takes over its data and leads on. Nothing of that happens when it does not know where to. */
export function endSucceeded<S extends StateOf>(run: PhaseRun<S>, success: Success<S>): void {
  const state = success.state ?? run.recorder.state();
  const to = success.to ?? targets(run, success.output, state);
  refuseUnknown(run, to);
  run.recorder.take(state);
  leadOn(run, to, (next) => ({ type: "phase:succeeded", phase: run.name, next }));
}

export function endSkipped<S extends StateOf>(run: PhaseRun<S>, reason: string): void {
  const to = targets(run, undefined, run.recorder.state());
  refuseUnknown(run, to);
  leadOn(run, to, (next) => ({ type: "phase:skipped", phase: run.name, reason, next }));
}

/** What to do about an error: as the phase's policy says. */
export function endWithError<S extends StateOf>(run: PhaseRun<S>, error: unknown): void {
  const { phase, recorder, name } = run;
  const failure = run.failure(error);
  const cause = error instanceof Error ? error : new Error(String(error));
  const policy = phase.onError ?? { strategy: "fail" };
  const retries = recorder.record.phases[name]?.retries ?? 0;
  if (policy.strategy === "retry" && retries < policy.maxRetries) {
    if (policy.onRetry) recorder.update((draft) => policy.onRetry?.(cause, draft));
    const waitMs = retryDelay(policy, retries, run.random);
    const retry_at = new Date(Date.parse(run.now()) + waitMs).toISOString();
    recorder.tell({ type: "phase:retrying", phase: name, error: failure, retries: retries + 1, retry_at });
  } else if (policy.strategy === "pause") {
    const prompt = policy.prompt?.(cause, recorder.state()) ?? `\`${name}\` failed: ${failure.message}`;
    ask(run, errorQuestion(prompt), failure);
  } else if (phase.optional) endSkipped(run, `it failed, and is optional: ${failure.message}`);
  else endFailed(run, failure);
}

export function endFailed<S extends StateOf>(
  { recorder, name }: PhaseRun<S>,
  error: { readonly code: string; readonly message: string },
): void {
  recorder.tell({ type: "phase:failed", phase: name, error });
}

function targets<S extends StateOf>(run: PhaseRun<S>, output: unknown, state: S): readonly string[] {
  const next = run.phase.next as Next<S, string, unknown>;
  if (typeof next === "string") return [next];
  const choose = typeof next === "function" ? next : "choose" in next ? next.choose : () => next;
  const chosen = choose(structuredClone(state), output);
  return typeof chosen === "string" ? [chosen] : chosen;
}

function refuseUnknown<S extends StateOf>({ workflow, name }: PhaseRun<S>, to: readonly string[]): void {
  const { nodes } = workflow.graph;
  const node = nodes[name];
  if (to.length === 0) throw unknownTarget(name, "nothing");
  for (const target of to) {
    const isKnown = Object.hasOwn(nodes, target) && (node?.kind === "any" || node?.to.includes(target));
    if (!isKnown) throw unknownTarget(name, target);
  }
}

function leadOn<S extends StateOf>(
  { workflow, recorder, name }: PhaseRun<S>,
  to: readonly string[],
  ended: (next: string[]) => RunEvent,
): void {
  const { graph } = workflow;
  const node = graph.nodes[name];
  const order = orderOf(graph);
  const isFixed = node?.kind === "fixed" && to.length === node.to.length;
  recorder.tell(ended(isFixed ? [] : [...to]));
  for (const target of to) {
    if (node?.kind !== "any" && !order.isBack(name, target)) continue;
    // What follows the target was done for what it gave the last time.
    const stale = [target, ...order.after(target)].filter(
      (each) => (recorder.record.phases[each]?.version ?? 0) > 0 || each === target,
    );
    recorder.tell({ type: "phases:reset", phases: stale, due: target });
  }
}

function unknownTarget(name: string, target: string): CrunchError {
  return new CrunchError({
    code: "unknown_target",
    message: `\`${name}\` chose to lead to \`${target}\`, which is not among the phases it may lead to.`,
    hint: "Name it in `to`, or choose another one.",
  });
}
