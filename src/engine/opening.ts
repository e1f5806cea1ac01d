import type { RunEvent } from "../checkpoint/run-event.js";
import type { Moment } from "../runtime/recorder.js";
import type { RunRecord } from "../workflow/replay.js";
import type { Step } from "./decision.js";

/** What a step does to the run before anything begins. */
export function openingEvents(step: Step, record: RunRecord, now: Date): readonly RunEvent[] {
  const changed = Object.entries(step.phases).filter(
    ([name, state]) => JSON.stringify(record.phases[name]) !== JSON.stringify(state),
  );
  const moved: RunEvent[] =
    changed.length > 0 ? [{ type: "run:moved", phases: Object.fromEntries(changed) }] : [];
  if (step.kind !== "approve" && step.kind !== "respond") return moved;
  const { phase, by } = step;
  const state = record.phases[phase];
  if (!state) throw new Error(`the run has no phase ${phase}`);
  const response = step.kind === "approve" ? "approve" : step.response;
  // A run of old has asked without writing down what.
  const isAsked = Object.hasOwn(record.questions, phase);
  const answered: RunEvent = isAsked
    ? { type: "input:received", phase, answer: { response, by, at: now.toISOString() } }
    : { type: "run:moved", phases: { [phase]: { ...state, status: "succeeded" } } };
  return [...moved, answered];
}

/** An answer is worth a checkpoint also when others have to answer as well. */
export function openingMoment(step: Step): Moment | null {
  if (step.kind !== "approve" && step.kind !== "respond") return null;
  const outcome = step.kind === "approve" ? "approved" : null;
  return { type: "PRE", trigger: "approval", outcome, phase: step.phase };
}
