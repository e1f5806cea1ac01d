import { CrunchError } from "../errors.js";
import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import { openSession, type RunOptions } from "./session.js";

export interface AnswerOptions extends Pick<RunOptions, "store" | "issue" | "clock" | "onEvent"> {
  readonly phase: string;
  readonly response: string;
  readonly by: string;
  /** The checkpoint whose question this answers; an answer to an older one is refused. */
  readonly checkpoint?: string;
}

/** Records a person's answer. The run goes on with the next `runWorkflow`. */
export async function answer<S extends StateOf>(
  workflow: WorkflowDefinition<S>,
  options: AnswerOptions,
): Promise<void> {
  const { recorder, now } = await openSession(workflow, options);
  const { phase, by } = options;
  const asked = recorder.record.questions[phase];
  if (!asked) throw refused(`Nothing is asked in the phase \`${phase}\`.`, "Look at where the run stands.");
  const response = options.response.trim();
  const { choices } = asked.question;
  if (choices.length > 0 && !choices.includes(response))
    throw refused(`${JSON.stringify(response)} is no answer to it.`, `Answer one of: ${choices.join(", ")}.`);
  if (options.checkpoint !== undefined && options.checkpoint !== recorder.latest?.checkpoint_id)
    throw refused("The question was asked by another checkpoint than that.", "Read it again, then answer.");
  if (asked.answers.some((each) => each.by === by))
    throw refused(`${by} has answered already.`, "Others have to answer as well.");
  recorder.tell({ type: "input:received", phase, answer: { response, by, at: now().toISOString() } });
  await recorder.save({ type: "POST", trigger: "approval", outcome: "approved", phase });
}

function refused(message: string, hint: string): CrunchError {
  return new CrunchError({ code: "answer_refused", message, hint });
}
