import { CrunchError } from "../errors.js";
import { consensusOf } from "../workflow/consensus.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { AgentPhase, ConsensusPhase, TasksPhase, Vote } from "../workflow/definition.js";
import { taskKey } from "../workflow/replay.js";
import { ask, peoplesQuestion, questionFor } from "./asking.js";
import { endSkipped, endSucceeded } from "./ending.js";
import type { PhaseRun } from "./phase-run.js";
import { fromJson, outputTask, runTask, runTasks, toJson } from "./phase-tasks.js";
import { within } from "./within.js";

/**
 * One try of a phase: guard, before, run, after, and always finally. What comes of it is told to the recorder in one
 * go at the end, so that no checkpoint holds half of it. Errors are the caller's.
 */
export async function runLifecycle<S extends StateOf>(run: PhaseRun<S>): Promise<void> {
  const { phase, name, limits, signal } = run;
  const { guard, before } = phase;
  let end: () => void;
  try {
    const mayEnter = guard
      ? await within(`The guard of ${name}`, limits.guard, signal, () => guard(run.recorder.state()))
      : true;
    if (!mayEnter) end = () => endSkipped(run, "its guard said no");
    else {
      if (before)
        await within(`\`before\` of ${name}`, limits.before, signal, (signal) =>
          before({ ...run.context(), signal }),
        );
      end = await runPhase(run);
    }
  } finally {
    // Also after an abort: whatever the phase took has to be given back.
    const last = phase.finally;
    if (last)
      await within(`\`finally\` of ${name}`, limits.finally, new AbortController().signal, (signal) =>
        last({ ...run.context(), signal }),
      );
  }
  signal.throwIfAborted();
  end();
}

async function runPhase<S extends StateOf>(run: PhaseRun<S>): Promise<() => void> {
  const { phase } = run;
  switch (phase.type) {
    case "human": {
      const request = typeof phase.human === "function" ? phase.human(run.recorder.state()) : phase.human;
      return () => ask(run, questionFor(request, "phase", run.now()));
    }
    case "agent":
    case "tasks":
      return runAgent(run, phase);
    case "consensus":
      return runConsensus(run, phase);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a phase gives and takes is its own affair
type Agent<S> = AgentPhase<S, string, any, any>;
// biome-ignore lint/suspicious/noExplicitAny: the same
type Worker<S> = Agent<S> | TasksPhase<S, string, any>;

async function runAgent<S extends StateOf>(run: PhaseRun<S>, phase: Worker<S>): Promise<() => void> {
  const outputs = await outputsOf(run, phase);
  const output = outputs.at(-1);
  const { update, after, human } = phase;
  // A loop takes over each turn's output as it goes.
  const take = (draft: S) => {
    if (phase.type === "tasks" || !phase.until) for (const each of outputs) update?.(each, draft);
  };
  if (after) {
    const state = run.recorder.changed(take);
    await within(`\`after\` of ${run.name}`, run.limits.after, run.signal, (signal) =>
      after(output, { ...run.context(), state, signal }),
    );
  }
  return () => {
    const state = run.recorder.changed(take);
    const request = typeof human === "function" ? human(structuredClone(state), output) : (human ?? null);
    if (!request) endSucceeded(run, { output, state });
    else {
      run.recorder.take(state);
      // Kept for when the answer comes, which may be in another session.
      keepOutput(run, output);
      ask(run, questionFor(request, "output", run.now()));
    }
  };
}

function keepOutput<S extends StateOf>(run: PhaseRun<S>, output: unknown): void {
  const about = { phase: run.name, task: outputTask, at: run.now() };
  run.recorder.tell(
    { type: "tasks:planned", phase: run.name, tasks: { [outputTask]: { depends_on: [] } } },
    { type: "task:completed", ...about, result: toJson(output) },
  );
}

export function keptOutput<S extends StateOf>(run: PhaseRun<S>): unknown {
  const result = run.recorder.record.nodes[taskKey(run.name, outputTask)]?.result;
  return result == null ? undefined : fromJson(result);
}

async function outputsOf<S extends StateOf>(run: PhaseRun<S>, phase: Worker<S>): Promise<readonly unknown[]> {
  const { parallel } = phase;
  if (phase.type === "tasks") {
    const { tasks } = phase;
    const planned = () =>
      Object.fromEntries(Object.entries(tasks).map(([name, { dependsOn = [] }]) => [name, { dependsOn }]));
    return runTasks(
      run,
      planned,
      (task, context) => tasks[task]?.run({ ...context, item: undefined }),
      parallel,
    );
  }
  const { run: work, forEach, until } = phase;
  if (forEach) {
    const planned = () =>
      Object.fromEntries(forEach(run.recorder.state()).map((item, at) => [`${at + 1}`, { item }]));
    return runTasks(run, planned, (_, context) => work(context), parallel);
  }
  if (until) return runUntil(run, phase, until);
  const output = await within(`\`run\` of ${run.name}`, run.limits.run, run.signal, (signal) =>
    work({ ...run.context(), signal, task: run.name, item: undefined }),
  );
  return [output];
}

/** Turn after turn, each a task and a checkpoint: a session that takes over goes on with the next turn. */
async function runUntil<S extends StateOf>(
  run: PhaseRun<S>,
  { run: work, update }: Agent<S>,
  { done, most }: NonNullable<Agent<S>["until"]>,
): Promise<readonly unknown[]> {
  const { recorder, name: phase } = run;
  for (let turn = 1; turn <= most; turn++) {
    const task = `${turn}`;
    const key = taskKey(phase, task);
    const before = recorder.record.nodes[key]?.status;
    if (before !== "complete") {
      if (before === undefined || before === "failed")
        recorder.tell({ type: "tasks:planned", phase, tasks: { [task]: { depends_on: [] } } });
      const take = (output: unknown) => recorder.changed((draft) => update?.(output, draft));
      await runTask(run, task, (_, context) => work(context), take);
      const { status, result } = recorder.record.nodes[key] ?? {};
      if (status !== "complete") throw turnFailed(turn, result ?? null);
      await run.batchCompleted(false);
    }
    const output = fromJson(recorder.record.nodes[key]?.result ?? "null");
    if (done(recorder.state(), output)) return [output];
  }
  throw new CrunchError({
    code: "not_done",
    message: `${phase} was not done after ${most} turns, which is its bound.`,
    hint: "Raise `most`, or look at why its work does not come to an end.",
  });
}

function turnFailed(turn: number, reason: string | null): CrunchError {
  return new CrunchError({
    code: "turn_failed",
    message: `Turn ${turn} failed: ${reason}`,
    hint: "The turns before it are complete and stay so.",
  });
}

async function runConsensus<S extends StateOf>(
  run: PhaseRun<S>,
  phase: ConsensusPhase<S, string>,
): Promise<() => void> {
  const { voters, people } = phase;
  const planned = () => Object.fromEntries(Object.keys(voters).map((name) => [name, {}]));
  const cast = await runTasks(run, planned, (task, context) =>
    voters[task]?.({ ...context, item: undefined }),
  );
  const votes = Object.fromEntries(Object.keys(voters).map((name, at) => [name, asVote(name, cast[at])]));
  const verdict =
    Object.keys(voters).length === 0 ? { approved: true, reason: "" } : consensusOf(votes, phase);
  if (!verdict.approved) return () => endConsensus(run, phase, votes, false, verdict.reason);
  if (people) return () => ask(run, peoplesQuestion(run, people));
  return () => endConsensus(run, phase, votes, true, verdict.reason);
}

/** Agents are programs, and may answer anything. */
function asVote(voter: string, cast: unknown): Vote {
  const { vote } = (cast ?? {}) as Partial<Vote>;
  if (vote === "approve" || vote === "reject" || vote === "abstain") return cast as Vote;
  throw new CrunchError({
    code: "vote_invalid",
    message: `${voter} did not vote, but gave ${JSON.stringify(cast)?.slice(0, 200) ?? "nothing"}.`,
    hint: 'A vote is { vote: "approve" }, "reject" or "abstain", with a `reason` if you like.',
  });
}

/** Where a consensus leads. Without one, and without a way for that, the phase has failed. */
export function endConsensus<S extends StateOf>(
  run: PhaseRun<S>,
  { otherwise }: ConsensusPhase<S, string>,
  votes: Readonly<Record<string, Vote>>,
  approved: boolean,
  reason: string,
): void {
  const output = { approved, votes };
  if (approved) endSucceeded(run, { output });
  else if (otherwise !== undefined) endSucceeded(run, { output, to: [otherwise] });
  else throw noConsensus(run.name, reason);
}

function noConsensus(phase: string, reason: string): CrunchError {
  return new CrunchError({
    code: "no_consensus",
    message: `${phase} found no consensus: ${reason}.`,
    hint: "Settle what the voters object to, then try again.",
  });
}
