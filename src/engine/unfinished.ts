import type { AgentProgress, AgentResult, Workspace } from "../ports.js";
import { taskKey } from "../workflow/replay.js";
import { agentRecord, doerOf, notesRecord, progressKeptOf } from "./agent-record.js";
import { asArtifacts } from "./artifacts.js";
import type { IssueTask } from "./issue-task.js";
import { capturePartialWork } from "./partial-work.js";

/** Has the next checkpoint hold what a task has done so far: notes, progress and files. Gives what is missing of it. */
export async function keepUnfinished(
  task: IssueTask,
  workspace: Workspace,
  left: { readonly notes: string | null; readonly progress: readonly AgentProgress[] },
): Promise<string | null> {
  const { session, journal, issue, phase, name, plan, role } = task;
  const about = { issue: issue.number, run: journal.run };
  const partial = await capturePartialWork(session, about, plan, workspace);
  const notes = notesRecord(journal.run.notes, role, left.notes);
  journal.keep({ notes: notes.notes }, notes.files);
  const folder = `${session.plan.layout.folder(issue.number)}/`;
  const baseOf = (path: string) =>
    path.startsWith(folder) ? (task.basis[path.slice(folder.length)]?.hash ?? "none") : workspace.baseSha;
  const partial_work = partial.partial_work.map((file) => ({ ...file, base: baseOf(file.path) }));
  const work = { partial_work, progress: progressKeptOf(left.progress) };
  journal.keepUnfinished(taskKey(phase, name), work, asArtifacts([...partial.files, ...notes.files]));
  journal.say({ note: partial.remark });
  return partial.remark;
}

/**
 * Keeps what an agent left whose session has to stop. If it had ended, and all of its work is kept, it need not run
 * again. Gives what is missing.
 */
export async function keepStopped(
  task: IssueTask,
  workspace: Workspace,
  result: AgentResult,
): Promise<string | null> {
  const missing = await keepUnfinished(task, workspace, result);
  if (result.status === "succeeded" && missing === null) report(task, result);
  return missing;
}

/** The agent is done, but nothing of it counts yet: its files are still unfinished work. */
export function report(task: IssueTask, result: AgentResult): void {
  const { recorder, journal, phase, name } = task;
  const { summary, data, vote, outputs } = result;
  journal.keep(agentRecord(journal.run, doerOf(task), result, { code: [], outputs: [] }));
  const said = JSON.stringify({ summary, data, vote, outputs });
  recorder.tell({ type: "task:reported", phase, task: name, result: said });
}
