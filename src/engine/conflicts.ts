import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { FileChange, Workspace } from "../ports.js";
import { taskKey } from "../workflow/replay.js";
import type { IssueTask } from "./issue-task.js";
import type { Session } from "./session.js";

export interface Conflict {
  readonly paths: readonly string[];
  readonly message: string;
}

/** Whether the task changed what another one has changed since it began. Then it does its work again on top of that. */
export async function conflictOf(
  task: IssueTask,
  workspace: Workspace,
  mark: number,
): Promise<Conflict | null> {
  const { journal, phase, name, kind, session, recorder } = task;
  const others = journal.changedSince(mark);
  if (kind === "vote" || others.size === 0) return null;
  const changes = await changesOf(workspace);
  const paths = changes.map(({ path }) => path).filter((path) => others.has(path));
  if (paths.length === 0) return null;
  const { acp_state } = journal.run;
  const message = startOver(task, paths);
  const open = new Set([...acp_state.conflicts_in_progress, conflictId(task)]);
  journal.keep({ acp_state: { ...acp_state, conflicts_in_progress: [...open] } });
  recorder.tell({ type: "conflict:started", phase, task: name, paths });
  session.log.info(`${phase}: ${message}`, { event: "conflict", issue: task.issue.number, phase });
  if (session.plan.checkpoints.conflictEvents)
    await recorder.save({ type: "PRE", trigger: "conflict_start", outcome: null, phase });
  return { paths, message };
}

/** The work is to be done again, from nothing. Gives what to tell the agent. */
export function startOver(task: IssueTask, paths: readonly string[]): string {
  const { journal, recorder, session, phase, name } = task;
  const key = taskKey(phase, name);
  // It was done on top of what is no longer there.
  journal.forgetTask(key);
  const node = recorder.record.nodes[key];
  if (node && node.result !== null) {
    const depends_on = node.depends_on.map((each) => each.slice(taskKey(phase, "").length));
    const { input } = node;
    const planned = { depends_on, ...(input !== undefined && { input }) };
    recorder.tell({ type: "tasks:planned", phase, tasks: { [name]: planned } });
    recorder.tell({ type: "task:started", phase, task: name, at: session.clock.now().toISOString() });
  }
  const listed = paths.slice(0, 10).map((path) => `\`${path.replace(/[`\r\n]/g, "?")}\``);
  return `While this was being done, another task changed the same files: ${listed.join(", ")}. They are in the workspace as that one left them; do the work on top of that.`;
}

/** Those of the unfinished files that others have changed since. */
export async function changedSince(
  { session, journal, issue }: IssueTask,
  work: Checkpoint["partial_work"],
  head: string,
): Promise<readonly string[]> {
  const folder = `${session.plan.layout.folder(issue.number)}/`;
  const changed: string[] = [];
  const known = new Map<string, ReadonlySet<string>>();
  for (const { path, base } of work) {
    if (base === undefined || base === head) continue;
    if (path.startsWith(folder)) {
      if ((journal.run.artifacts[path.slice(folder.length)]?.hash ?? "none") !== base) changed.push(path);
      continue;
    }
    const since = known.get(base) ?? (await pathsBetween(session, base, head));
    known.set(base, since);
    if (since.has(path)) changed.push(path);
  }
  return changed;
}

async function pathsBetween({ code }: Session, from: string, to: string): Promise<ReadonlySet<string>> {
  return new Set((await code.changesBetween(from, to)).map(({ path }) => path));
}

/** What the agent changed; nothing where that can't be read, which is found out when it is judged. */
async function changesOf(workspace: Workspace): Promise<readonly FileChange[]> {
  try {
    return await workspace.changes();
  } catch (error) {
    if (error instanceof CrunchError) return [];
    throw error;
  }
}

/** A folder with what others have changed meanwhile, and with the task's own changes on top. */
export async function onTop(
  { folders, setUp }: IssueTask,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<Workspace> {
  const changes = await changesOf(workspace);
  const place = await folders.take();
  await setUp(place, signal);
  if (changes.length > 0) await place.apply(changes);
  return place;
}

/** The work was done again, on top of what the other had changed. */
export async function resolved(task: IssueTask): Promise<void> {
  const { journal, recorder, phase, name } = task;
  const { acp_state } = journal.run;
  const id = conflictId(task);
  const conflicts_in_progress = acp_state.conflicts_in_progress.filter((each) => each !== id);
  journal.keep({ acp_state: { ...acp_state, conflicts_in_progress } });
  recorder.tell({ type: "conflict:resolved", phase, task: name });
  if (task.session.plan.checkpoints.conflictEvents)
    await recorder.save({ type: "PRE", trigger: "conflict_resolved", outcome: null, phase });
}

const conflictId = ({ phase, name }: IssueTask) => taskKey(phase, name);

export function tooManyConflicts({ paths }: Conflict): CrunchError {
  return new CrunchError({
    code: "conflict",
    message: `Other tasks kept changing the same files: ${paths.slice(0, 10).join(", ")}.`,
    hint: "Let the phases run one after the other, or keep them to paths of their own with `writes`. Then comment `/crunch`.",
  });
}
