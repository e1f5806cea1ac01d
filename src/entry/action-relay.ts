import { dispatchAgain } from "../adapters/github/relay.js";
import type { Repository } from "../adapters/github/repository.js";
import type { Dependencies } from "../app/dependencies.js";
import type { Outcome } from "../app/outcome.js";
import { isStateLabel } from "../workflow/labels.js";

/**
 * A job ends before its time limit, the work does not: the next job is started to go on with it. Gives what is to be
 * said about that; empty when there is nothing to relay.
 */
export async function relay(
  deps: Dependencies,
  repository: Repository,
  workflowRef: string,
  outcome: Outcome,
): Promise<string> {
  if (outcome.status !== "interrupted" || outcome.checkpoint.trigger !== "session_end") return "";
  const { issue_number: number, checkpoint_id: id } = outcome.checkpoint;
  // A person who took the label off meanwhile wants it to stop.
  const { labels } = await deps.tracker.issue(number);
  if (!labels.some(isStateLabel)) return "";
  const inputs = { issue: String(number), command: "resume" };
  const relayed = await dispatchAgain(repository, workflowRef, inputs);
  if (relayed.status === "dispatched") {
    deps.log.info(`#${number}: the next job goes on`);
    return "The time of this job was up. The next one has been started and goes on.";
  }
  const text = `The time of the job was up, and the next one could not be started: ${relayed.reason}. Comment \`/crunch resume\` to go on.`;
  deps.log.warn(`#${number}: ${text}`);
  await deps.tracker.replyOnce(number, `<!-- crunch:relay:${id} -->`, text);
  return text;
}
