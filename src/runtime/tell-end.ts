import type { StateOf } from "../workflow/define-workflow.js";
import { firstFailed, hasArrived, readiness } from "../workflow/readiness.js";
import type { Session } from "./session.js";

/** Nothing is at work. Where that means that the run is over, its last checkpoint says so, and leaves nothing to do. */
export function tellEnd<S extends StateOf>({ recorder, workflow, now }: Session<S>, phase: string): void {
  const { phases, questions } = recorder.record;
  const failed = firstFailed(workflow.graph, phases);
  if (failed !== null) {
    const error = phases[failed]?.failure ?? { code: "error", message: "" };
    recorder.tell({ type: "run:failed", phase: failed, error });
    return;
  }
  const { ready, sleeping } = readiness(workflow.graph, phases, now());
  const isOver = ready.length + sleeping.length + Object.keys(questions).length === 0;
  if (!isOver || !hasArrived(workflow.graph, phases)) return;
  const reason = "the run took another way";
  for (const [name, { status }] of Object.entries(phases))
    if (status === "pending") recorder.tell({ type: "phase:skipped", phase: name, reason, next: [] });
  recorder.tell({ type: "run:finished", phase });
}
