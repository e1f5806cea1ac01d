import type { RunEvent } from "../checkpoint/run-event.js";
import { CrunchError } from "../errors.js";
import { failureOf } from "./phase-run.js";
import type { Moment } from "./recorder.js";

/** The checkpoint that the end of a try is worth. */
export function momentOf(phase: string, status: string | undefined, failure: unknown): Moment {
  const hint = failure instanceof CrunchError ? failure.hint : "";
  const error = failure === null ? null : { ...failureOf(failure), hint };
  if (status === "failed") return { type: "POST", trigger: "phase_failure", outcome: "failed", phase, error };
  if (status === "waiting")
    return { type: "PRE", trigger: failure === null ? "before_human" : "pause", outcome: null, phase, error };
  if (status === "skipped") return { type: "POST", trigger: "phase_transition", outcome: "skipped", phase };
  // It is to be tried again.
  if (failure !== null) return { type: "POST", trigger: "phase_failure", outcome: "failed", phase, error };
  return { type: "POST", trigger: "phase_transition", outcome: "succeeded", phase };
}

/** A phase that failed is to be tried again, because somebody asked for it. */
export function retried(phase: string, now: Date): RunEvent {
  const error = { code: "asked", message: "somebody asked to try again" };
  return { type: "phase:retrying", phase, error, retries: 0, retry_at: now.toISOString() };
}

export function givenUp(phase: string, error: { readonly code: string; readonly message: string }): Moment {
  const told = { ...error, hint: "Look at why, then try again." };
  return { type: "POST", trigger: "phase_failure", outcome: "failed", phase, error: told };
}

export function gaveUp(phase: string, deaths: number) {
  return { code: "gave_up", message: `The session died ${deaths} times while ${phase} was running.` };
}

const ranks: readonly Moment["trigger"][] = [
  ...(["phase_transition", "approval", "pause", "before_human", "phase_failure"] as const),
];

/** Which of two a checkpoint is about: a failure more than a question, a question more than success, else the later. */
export function worthier(one: Moment | null, other: Moment): Moment {
  return one !== null && ranks.indexOf(one.trigger) > ranks.indexOf(other.trigger) ? one : other;
}

/** Nothing can begin, and no end was reached: better said than taken for success. */
export function stuck(workflow: string): CrunchError {
  return new CrunchError({
    code: "run_stuck",
    message: `The run of ${workflow} can't go on: no phase can begin, and no terminal phase was reached.`,
    hint: "Look at the phases that wait for others which nothing leads to any more.",
  });
}
