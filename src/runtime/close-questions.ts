import type { StateOf } from "../workflow/define-workflow.js";
import { closeQuestion, isAnswered } from "./answering.js";
import { endWithError } from "./ending.js";
import { momentOf } from "./moments.js";
import type { PhaseRun } from "./phase-run.js";
import type { Moment } from "./recorder.js";
import type { Session } from "./session.js";

/** Carries out every answer that is there, and every time that is up. Gives what came of each. */
export async function closeQuestions<S extends StateOf>(
  { recorder, workflow, now }: Session<S>,
  phaseRun: (name: string) => PhaseRun<S>,
): Promise<readonly Moment[]> {
  const moments: Moment[] = [];
  for (const [name, asked] of Object.entries(recorder.record.questions)) {
    if (!Object.hasOwn(workflow.phases, name) || !isAnswered(asked, now())) continue;
    const run = phaseRun(name);
    let failure: unknown = null;
    try {
      await closeQuestion(run, asked, now());
    } catch (error) {
      // Told to stop: the answer is still there for the next session.
      if (run.signal.aborted) break;
      failure = error;
      endWithError(run, error);
    }
    const moment = momentOf(name, recorder.record.phases[name]?.status, failure);
    const isApproved = moment.outcome === "succeeded" && asked.answers.at(-1)?.response === "approve";
    moments.push(isApproved ? { ...moment, trigger: "approval", outcome: "approved" } : moment);
  }
  return moments;
}
