import type { RunEvent } from "../checkpoint/run-event.js";
import type { PhaseState } from "../checkpoint/schema.js";
import type { Moment } from "../runtime/recorder.js";
import type { RunRecord } from "../workflow/replay.js";
import type { Workflow } from "../workflow/workflow.js";
import type { Step } from "./decision.js";

/** What a step does to the run before anything begins. */
export function openingEvents(
  step: Step,
  workflow: Workflow,
  record: RunRecord,
  now: Date,
): readonly RunEvent[] {
  const wanted = Object.entries(step.phases).map(([name, state]) => {
    const isGone = !Object.hasOwn(workflow.phases, name) && !isDone(state);
    return [name, isGone ? { ...state, status: "skipped" as const } : state] as const;
  });
  const changed = wanted.filter(
    ([name, state]) => JSON.stringify(record.phases[name]) !== JSON.stringify(state),
  );
  const keep = "again" in step && step.again ? changed.map(([name]) => name) : [];
  const moved: RunEvent[] =
    changed.length > 0
      ? [{ type: "run:moved", phases: Object.fromEntries(changed), ...(keep.length > 0 && { keep }) }]
      : [];
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

const isDone = ({ status }: PhaseState) => status === "succeeded" || status === "skipped";

/** An answer is worth a checkpoint also when others have to answer as well. */
export function openingMoment(step: Step): Moment | null {
  if (step.kind !== "approve" && step.kind !== "respond") return null;
  const outcome = step.kind === "approve" ? "approved" : null;
  return { type: "PRE", trigger: "approval", outcome, phase: step.phase };
}
