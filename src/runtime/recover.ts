import type { StateOf } from "../workflow/define-workflow.js";
import { deathsIn } from "./beginnings.js";
import { gaveUp, retried } from "./moments.js";
import type { Session } from "./session.js";

/** What a session that died left running is to be done again, but not for ever: gives what is given up. */
export function recover<S extends StateOf>({ recorder, workflow, now }: Session<S>, retryFailed = false) {
  const phases = Object.entries(recorder.record.phases).filter(([name]) =>
    Object.hasOwn(workflow.phases, name),
  );
  return phases.flatMap(([phase, state]) => {
    const deaths = deathsIn(state);
    // What is complete in it stays so.
    if (state.status === "failed" && retryFailed) recorder.tell(retried(phase, now()));
    return deaths >= workflow.maxAttempts ? [{ phase, error: gaveUp(phase, deaths) }] : [];
  });
}

/** Whether what follows a person's answer takes longer than telling it. */
export function takesTime<S extends StateOf>({ workflow }: Session<S>, name: string): boolean {
  const phase = workflow.phases[name];
  return phase?.type === "human" && phase.after !== undefined;
}
