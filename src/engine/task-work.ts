import { notesStatus } from "../gates/notes-status.js";
import type { AgentProgress, AgentResult, Json, LiveAgent, Workspace } from "../ports.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { TaskContext } from "../workflow/definition.js";
import { taskKey } from "../workflow/replay.js";
import { agentContext } from "./agent-context.js";
import { conflictOf, onTop, resolved, tooManyConflicts } from "./conflicts.js";
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

async function attempts(task: IssueTask, context: Context): Promise<TaskOutput> {
  let error = task.recorder.record.phases[task.phase]?.failure?.message ?? null;
  for (let conflicts = 0; ; conflicts++) {
    const mark = task.journal.mark;
    let workspace = await task.folders.take(task.isOnly ? task.phase : undefined);
    let isKept = false;
    try {
      await task.prepare(workspace, context.signal);
      await takeUp(task, workspace);
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
            const place = await onTop(task, workspace);
            await task.folders.drop(workspace);
            workspace = place;
          }
          const output = outputOf(task, context, result);
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

function outputOf(
  { name, role, session }: IssueTask,
  { item = null }: Context,
  { summary, data = null, vote }: AgentResult,
): TaskOutput {
  const { verdict } = notesStatus(session.notes.get(role) ?? "");
  return { summary, data, vote: vote ?? null, verdict, task: name, item: item as Json, role };
}

/** What a stopped attempt had done so far. */
async function takeUp(
  { session, journal, phase, name, issue, plan }: IssueTask,
  workspace: Workspace,
): Promise<void> {
  const unfinished = journal.unfinished(taskKey(phase, name));
  if (!unfinished) return;
  await restorePartialWork(
    session,
    { issue: issue.number, name: phase },
    unfinished.partial_work,
    plan,
    workspace,
  );
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
