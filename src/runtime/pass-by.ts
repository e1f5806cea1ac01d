import type { StateOf } from "../workflow/define-workflow.js";
import type { Beginning } from "./beginnings.js";
import { endSkipped } from "./ending.js";
import type { PhaseRun } from "./phase-run.js";
import type { Moment } from "./recorder.js";
import type { Session } from "./session.js";

/** An end of the graph is reached, or a phase is left out. */
export function passBy<S extends StateOf>(
  { recorder }: Session<S>,
  beginning: Beginning,
  phaseRun: (name: string) => PhaseRun<S>,
): Moment {
  const { name: phase } = beginning;
  const isSkip = beginning.kind === "skip";
  if (isSkip) endSkipped(phaseRun(phase), beginning.reason);
  else recorder.tell({ type: "phase:succeeded", phase, next: [] });
  return { type: "POST", trigger: "phase_transition", outcome: isSkip ? "skipped" : "succeeded", phase };
}
