import type { Failure } from "../checkpoint/phase-state.js";
import type { Question } from "../checkpoint/run-event.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { ConsensusPhase, HumanRequest } from "../workflow/definition.js";
import type { PhaseRun } from "./phase-run.js";

/** A request as it is stored: with the time it ends, and what counts then. */
export function questionFor(request: HumanRequest, purpose: Question["purpose"], now: string): Question {
  const { type, prompt, timeoutMs, remindAfterMs, onTimeout = "fail" } = request;
  const choices = type === "approval" ? ["approve", "reject"] : type === "choice" ? [...request.choices] : [];
  return {
    ...{ type, prompt, choices, needed: 1, purpose },
    ...(remindAfterMs !== undefined && { remind_after_ms: remindAfterMs }),
    expires_at: timeoutMs === undefined ? null : later(now, timeoutMs),
    on_timeout: timeoutMs === undefined ? null : typeof onTimeout === "string" ? onTimeout : onTimeout.answer,
  };
}

export function peoplesQuestion<S extends StateOf>(
  run: PhaseRun<S>,
  people: NonNullable<ConsensusPhase<S, string>["people"]>,
): Question {
  const { needed, timeoutMs } = people;
  const prompt = typeof people.prompt === "string" ? people.prompt : people.prompt(run.recorder.state());
  const request = { type: "approval", prompt, ...(timeoutMs !== undefined && { timeoutMs }) } as const;
  return { ...questionFor(request, "consensus", run.now()), needed };
}

export function errorQuestion(prompt: string): Question {
  const choices = ["retry", "skip", "fail"];
  return { type: "choice", prompt, choices, needed: 1, purpose: "error", expires_at: null, on_timeout: null };
}

const later = (now: string, ms: number) => new Date(Date.parse(now) + ms).toISOString();

export function ask<S extends StateOf>(run: PhaseRun<S>, question: Question, error?: Failure): void {
  const about = { phase: run.name, question, at: run.now() };
  run.recorder.tell({ type: "input:requested", ...about, ...(error && { error }) });
}
