import { notesStatus } from "../gates/notes-status.js";
import type { AgentProgress, AgentResult, Json, LiveAgent, Workspace } from "../ports.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { TaskContext } from "../workflow/definition.js";
import { taskKey } from "../workflow/replay.js";
import { agentContext } from "./agent-context.js";
import { changedSince, conflictOf, onTop, resolved, startOver, tooManyConflicts } from "./conflicts.js";
import type { IssueTask } from "./issue-task.js";
import { createMidwaySaver } from "./midway-saver.js";
import { restorePartialWork } from "./partial-work.js";
import { endTask } from "./task-end.js";
import { keepStopped } from "./unfinished.js";

/** What a task came to, for the conditions of the workflow. */
export interface TaskOutput {
  readonly summary: string;
  readonly data: Json;
  readonly task: string;
  /** What `for_each` gave for it. */
  readonly item: Json;
  readonly role: string;
  readonly vote: "approve" | "reject" | "abstain" | null;
  /** What a reviewer wrote in the status of its notes. */
  readonly verdict: "APPROVED" | "FINDINGS" | null;
}

type Context = TaskContext<StateOf, unknown>;
const mostConflicts = 3;

/** Runs a task's agent and takes over its work. What others changed meanwhile is what it is put on top of. */
export function runIssueTask(task: IssueTask, context: Context): Promise<TaskOutput> {
  const work = attempts(task, context);
  task.atWork.add(work);
  const done = () => task.atWork.delete(work);
  work.then(done, done);
  return work;
}

async function attempts(given: IssueTask, context: Context): Promise<TaskOutput> {
  let error = given.recorder.record.phases[given.phase]?.failure?.message ?? null;
  for (let conflicts = 0; ; conflicts++) {
    const task = { ...given, basis: given.journal.run.artifacts };
    const mark = task.journal.mark;
    await keepLease(task);
    let workspace = await task.folders.take(task.isOnly ? task.phase : undefined);
    let isKept = false;
    try {
      // The only task works in the folder that the phase was set up in.
      if (!task.isOnly || conflicts > 0) await task.setUp(workspace, context.signal);
      error = (await takeUp(task, workspace)) ?? error;
      const result = await agentResult(task, context, workspace, error);
      if (context.signal.aborted) {
        if (task.session.signal.aborted) await keepStopped(task, workspace, result);
        context.signal.throwIfAborted();
      }
      const release = await task.turn();
      context.signal.addEventListener("abort", release, { once: true });
      try {
        const conflict = await conflictOf(task, workspace, mark);
        if (conflict === null) {
          if (task.kind === "work" && task.journal.mark > mark) {
            const place = await onTop(task, workspace, context.signal);
            await task.folders.drop(workspace);
            workspace = place;
          }
          const output = await outputOf(task, context, result);
          const sha = await endTask(task, context.signal, workspace, result, { output, release });
          if (conflicts > 0) await resolved(task);
          if (task.kind === "work") {
            isKept = true;
            await task.folders.giveBack(workspace, sha);
          }
          return output;
        }
        if (conflicts === mostConflicts) throw tooManyConflicts(conflict);
        error = conflict.message;
      } finally {
        // Once its end is known, the event that tells it lets the next one in: it must find what this one left.
        if (!task.journal.isEnding(taskKey(task.phase, task.name))) release();
      }
    } finally {
      if (!isKept) await task.folders.drop(workspace);
    }
  }
}

async function outputOf(task: IssueTask, { item = null }: Context, result: AgentResult): Promise<TaskOutput> {
  const { summary, data = null, vote = null } = result;
  const { verdict } = notesStatus(result.notes ?? (await notesFor(task)) ?? "");
  return { summary, data, vote, verdict, task: task.name, item: item as Json, role: task.role };
}

/** Many tasks take longer than anybody could know at the start: the lease has to last for this one too. */
async function keepLease({ journal, recorder, phase }: IssueTask): Promise<void> {
  if (recorder.latest && journal.isLeaseShort(recorder.latest))
    await recorder.save({ type: "PRE", trigger: "every_n_events", outcome: null, phase });
}

/** Puts back what a stopped attempt had done so far. Gives what to tell the agent where that no longer fits. */
async function takeUp(task: IssueTask, workspace: Workspace): Promise<string | null> {
  const { session, journal, phase, name, issue, plan } = task;
  const work = journal.unfinished(taskKey(phase, name))?.partial_work ?? [];
  if (work.length === 0) return null;
  const changed = await changedSince(task, work, workspace.baseSha);
  if (changed.length > 0) return startOver(task, changed);
  await restorePartialWork(session, { issue: issue.number, name: phase }, work, plan, workspace);
  return null;
}

/** One that had ended before its session died is not run again. */
async function agentResult(
  task: IssueTask,
  context: Context,
  workspace: Workspace,
  error: string | null,
): Promise<AgentResult> {
  const { session, agent, phase, issue, role } = task;
  const reported = reportedResult(task);
  if (reported) {
    session.log.info(`${phase}: the agent had finished before`, {
      event: "kept",
      issue: issue.number,
      phase,
    });
    return reported;
  }
  const saver = createMidwaySaver(task, workspace);
  const onProgress = (progress: AgentProgress, live: LiveAgent) => {
    const fields = { event: "progress", issue: issue.number, phase, percent: progress.percent };
    session.log.info(`${phase}: ${progress.message}`, fields);
    saver.onProgress(progress, live);
  };
  const told = {
    ...context,
    state: context.state as Readonly<Record<string, Json>>,
    item: (context.item ?? null) as Json,
  };
  const result = await agent.runner.run({
    context: agentContext(task, told, workspace, { notes: await notesFor(task), error }),
    timeoutMs: agent.timeoutMs,
    signal: context.signal,
    onProgress,
  });
  if (result.notes !== null) session.notes.set(role, result.notes);
  await saver.settled();
  return result;
}

function reportedResult({ recorder, phase, name, journal }: IssueTask): AgentResult | null {
  const report = recorder.record.nodes[taskKey(phase, name)]?.result ?? null;
  if (report === null) return null;
  const { summary, data, vote, outputs } = JSON.parse(report) as Pick<
    AgentResult,
    "summary" | "data" | "vote" | "outputs"
  >;
  return {
    ...{ status: "succeeded", exitCode: 0, summary, outputs },
    ...(data !== undefined && { data }),
    ...(vote !== undefined && { vote }),
    // Counted when it ran.
    tokenUsage: { input: 0, output: 0 },
    acceptanceCriteria: journal.run.acceptance_criteria,
    ...{ notes: null, outputTail: "", durationMs: 0 },
    progress: journal.unfinished(taskKey(phase, name))?.progress ?? [],
  };
}

async function notesFor({ session, journal, role }: IssueTask): Promise<string | null> {
  const known = session.notes.get(role);
  if (known !== undefined) return known;
  const { notes } = journal.run;
  const kept = Object.hasOwn(notes, role) ? notes[role] : undefined;
  return kept ? (await journal.read(kept)).toString("utf8") : null;
}
