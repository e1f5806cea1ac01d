import type { RunState } from "../checkpoint/run-event.js";
import { CrunchError } from "../errors.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { Vote } from "../workflow/definition.js";
import { endFailed, endSkipped, endSucceeded } from "./ending.js";
import { endConsensus, keptOutput } from "./lifecycle.js";
import type { PhaseRun } from "./phase-run.js";
import { fromJson, nodesOf } from "./phase-tasks.js";
import { within } from "./within.js";

type Asked = RunState["questions"][string];

/** Whether nobody has to be waited for any more. */
export function isAnswered({ question, answers }: Asked, now: Date): boolean {
  const isOver = question.expires_at !== null && Date.parse(question.expires_at) <= now.getTime();
  const isRejected =
    question.purpose === "consensus" && answers.some(({ response }) => response === "reject");
  return isOver || isRejected || new Set(answers.map(({ by }) => by)).size >= question.needed;
}

/**
 * Carries out what the answer to a phase's question means for it. The answer is gone from the record only together
 * with what comes of it: a session that dies before that does not lose it.
 */
export async function closeQuestion<S extends StateOf>(
  run: PhaseRun<S>,
  { question, answers }: Asked,
  now: Date,
): Promise<void> {
  const { recorder, name: phase } = run;
  const rejected = answers.findLast(({ response }) => response === "reject");
  const isShort = new Set(answers.map(({ by }) => by)).size < question.needed && !rejected;
  const timed_out =
    isShort && question.expires_at !== null && Date.parse(question.expires_at) <= now.getTime();
  const response = timed_out
    ? (question.on_timeout ?? "fail")
    : ((rejected ?? answers.at(-1))?.response ?? "");
  const isAnswer = !(timed_out && (response === "fail" || response === "skip"));
  if (isAnswer && question.purpose === "phase") await runAfter(run, response);
  recorder.tell({ type: "input:closed", phase, response, timed_out });
  if (!isAnswer && response === "fail") throw inputTimeout(phase);
  if (!isAnswer) endSkipped(run, "nobody answered in time");
  else if (question.purpose === "error") afterError(run, response);
  else if (question.purpose === "consensus") endVote(run, response);
  else {
    const state = recorder.changed(taking(run, response));
    endSucceeded(run, { output: question.purpose === "output" ? keptOutput(run) : response, state });
  }
}

function taking<S extends StateOf>({ phase }: PhaseRun<S>, response: string) {
  const { onResponse } = phase as { onResponse?: (response: string, draft: S) => void };
  return (draft: S) => onResponse?.(response, draft);
}

/** `after` of a human phase: it sees the data with the answer in it. */
async function runAfter<S extends StateOf>(run: PhaseRun<S>, response: string): Promise<void> {
  if (run.phase.type !== "human" || !run.phase.after) return;
  const { after } = run.phase;
  const state = run.recorder.changed(taking(run, response));
  await within(`\`after\` of ${run.name}`, run.limits.after, run.signal, (signal) =>
    after({ ...run.context(), state, signal }),
  );
}

function afterError<S extends StateOf>(run: PhaseRun<S>, response: string): void {
  const { recorder, name: phase } = run;
  const { retries = 0, failure } = recorder.record.phases[phase] ?? {};
  const error = failure ?? { code: "asked", message: "a person answered" };
  if (response === "skip") endSkipped(run, "a person decided to skip it");
  else if (response === "fail") endFailed(run, { code: "asked", message: "a person decided to let it fail" });
  else recorder.tell({ type: "phase:retrying", phase, error, retries: retries + 1, retry_at: run.now() });
}

function endVote<S extends StateOf>(run: PhaseRun<S>, response: string): void {
  if (run.phase.type !== "consensus") throw new Error(`${run.name} is no consensus`);
  const names = Object.keys(run.phase.voters);
  const nodes = Object.values(nodesOf(run));
  const votes = Object.fromEntries(
    names.map((name, at) => [name, fromJson(nodes[at]?.result ?? "null") as Vote]),
  );
  endConsensus(run, run.phase, votes, response === "approve", "a person said no");
}

function inputTimeout(phase: string): CrunchError {
  const message = `Nobody answered the question of \`${phase}\` in time.`;
  return new CrunchError({ code: "input_timeout", message, hint: "Try again to ask anew." });
}
