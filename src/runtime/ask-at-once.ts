import type { StateOf } from "../workflow/define-workflow.js";
import { ask, questionFor } from "./asking.js";
import { endWithError } from "./ending.js";
import { momentOf } from "./moments.js";
import type { PhaseRun } from "./phase-run.js";
import type { Moment } from "./recorder.js";

/** Whether nothing has to be waited for before a person is asked. */
export function isOnlyQuestion<S extends StateOf>({ phase }: PhaseRun<S>): boolean {
  return phase.type === "human" && !phase.guard && !phase.before && !phase.finally;
}

/** A phase that only asks needs no start of its own. */
export function askAtOnce<S extends StateOf>(run: PhaseRun<S>): Moment {
  const { phase, name, recorder } = run;
  let failure: unknown = null;
  try {
    if (phase.type !== "human") throw new Error(`${name} asks nobody`);
    const request = typeof phase.human === "function" ? phase.human(recorder.state()) : phase.human;
    ask(run, questionFor(request, "phase", run.now()));
  } catch (error) {
    failure = error;
    endWithError(run, error);
  }
  return momentOf(name, recorder.record.phases[name]?.status, failure);
}
