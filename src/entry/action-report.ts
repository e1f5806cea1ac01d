import * as core from "@actions/core";
import { checkpointOf, type Outcome } from "../app/outcome.js";
import { output, say } from "./action-runner.js";

/** Outputs, log and summary of a job that was about one issue. */
export async function report(outcome: Outcome, remark = ""): Promise<void> {
  setOutputs(outcome);
  await summarise([textOf(outcome), remark]);
  if (isFailure(outcome)) core.setFailed(reasonOf(outcome));
}

/**
 * The same for a job that looked after all of them. How a phase ended is told on its issue, and is no failure of the
 * job: it would be one at every look from then on.
 */
export async function reportSweep(found: readonly { issue: number; outcome: Outcome }[]): Promise<void> {
  const isOver = ({ outcome }: { outcome: Outcome }) => outcome.status !== "ignored";
  const last = found.filter(isOver).at(-1)?.outcome ?? found.at(-1)?.outcome;
  setOutputs(last ?? { status: "ignored", reason: "no run waits for Crunch" });
  for (const { issue, outcome } of found) say(`#${issue}: ${outcome.status} ${reasonOf(outcome)}`);
  const texts = found.map(({ issue, outcome }) => `## #${issue}\n\n${textOf(outcome)}`);
  await summarise(texts.length > 0 ? texts : ["Crunch found no run to go on with."]);
}

function setOutputs(outcome: Outcome): void {
  const checkpoint = checkpointOf(outcome);
  const reason = reasonOf(outcome);
  say(`${outcome.status}${reason === "" ? "" : `: ${reason}`}`);
  output("status", outcome.status);
  output("reason", reason);
  output("phase", checkpoint?.workflow_state.current_phase ?? "");
  output("checkpoint-id", checkpoint?.checkpoint_id ?? "");
  output("pull-request", String(checkpoint?.projections.pull_request ?? ""));
}

const reasonOf = (outcome: Outcome) => ("reason" in outcome ? outcome.reason : "");

const textOf = (outcome: Outcome) =>
  "text" in outcome ? outcome.text : `Crunch had nothing to do: ${outcome.reason}.`;

async function summarise(texts: readonly string[]): Promise<void> {
  const text = texts.filter((each) => each !== "").join("\n\n");
  if (process.env.GITHUB_STEP_SUMMARY) await core.summary.addRaw(text, true).write();
}

/** A refused wish is no failure of the job, unless nobody's wish could be carried out. */
function isFailure(outcome: Outcome): boolean {
  if (outcome.status === "refused") return outcome.code === "config_invalid" || outcome.code === "no_agent";
  if (outcome.status === "interrupted") return outcome.checkpoint.trigger !== "session_end";
  return outcome.status === "failed";
}
