import type { Checkpoint, PhaseState } from "../checkpoint/schema.js";
import type { Draft } from "./draft.js";
import { isSafePath } from "./outside.js";
import { isComplete, type Task } from "./progress-schema.js";
import { quoted } from "./refusal.js";

type Nodes = Checkpoint["execution_graph"]["node_states"];

/** The state after the newest of the tasks: a snapshot of all of them, because a checkpoint stands for itself. */
export function draftOf(tasks: readonly Task[], newest: Task, problems: string[]): Draft {
  const isOver = tasks.every(isComplete);
  const pending: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
  const passed: PhaseState = { status: "skipped", attempt: 0, version: 1, checkpoint_id: null };
  const working: PhaseState = {
    status: isOver ? "succeeded" : "running",
    attempt: 1,
    version: 1,
    checkpoint_id: null,
  };
  const phases = { enrich: passed, ready: passed, implementing: working };
  const started = tasks.map(({ file, at }) => file.started_at ?? at).sort()[0] ?? newest.at;
  const agents = [...new Set(tasks.map(({ agent }) => agent))];
  return {
    ...placeOf(newest, isOver),
    created_at: newest.at,
    workflow_state: {
      ...{ workflow: "crunch", current_phase: "implementing", current_state_label: "state:implementing" },
      ...{ phase_started_at: started, phase_attempt: 1 },
    },
    orchestrator_state: {
      ...{ run_id: "RUN-imported-progress", current_phase: "implementing", handled_events: [] },
      completed_phases: isOver ? ["implementing"] : [],
      phases: { ...phases, validation: pending, docs: pending, done: pending },
      intake_summary: { started_by: "unknown", title: newest.file.task_title ?? newest.id },
    },
    team_state: { team_id: "TEAM-imported-progress", members: agents.map((agent) => memberOf(agent, tasks)) },
    execution_graph: {
      ...{ graph_id: "GRAPH-imported-progress", completed_batches: [], current_batch: 1 },
      node_states: Object.fromEntries(tasks.flatMap((task) => Object.entries(nodesOf(task)))),
    },
    agent_states: Object.fromEntries(
      agents.map((agent) => {
        const { tasks_pending } = memberOf(agent, tasks);
        const status = tasks_pending === 0 ? ("complete" as const) : ("pending" as const);
        const usage = { token_usage: { input: 0, output: 0 }, tool_invocations: [] };
        return [agent, { status, ...usage, summary: summaryOf(agent, tasks) }];
      }),
    ),
    files_modified: tasks.flatMap((task) => filesOf(task, task === newest ? problems : [])),
    acceptance_criteria: criteriaOf(tasks),
    progress: [
      {
        at: newest.at,
        message: `${newest.id}: ${newest.file.status}`,
        percent: newest.file.progress_percent,
      },
    ],
    error: errorOf(newest),
  };
}

function placeOf({ file }: Task, isOver: boolean): Pick<Checkpoint, "type" | "trigger" | "outcome"> {
  if (isOver) return { type: "POST", trigger: "phase_transition", outcome: "succeeded" };
  if (file.status === "complete") return { type: "PRE", trigger: "agent_complete", outcome: null };
  if (file.status === "blocked" || file.status === "failed")
    return { type: "PRE", trigger: "pause", outcome: null };
  return { type: "PRE", trigger: "session_end", outcome: "interrupted" };
}

/** A node a subtask, and one for the task itself, which is done when all of them are and its criteria are met. */
function nodesOf(task: Task): Nodes {
  const { file, agent, id } = task;
  const nodes: Nodes = {};
  for (const { id: item, status, output } of file.subtasks.items) {
    // Whoever was at it is gone: what was in progress is to be done again.
    const known = {
      complete: "complete",
      completed: "complete",
      failed: "failed",
      skipped: "skipped",
    } as const;
    const is = Object.hasOwn(known, status) ? known[status as keyof typeof known] : "pending";
    nodes[`${agent}-${id}/${item}`] = {
      ...{ status: is, depends_on: [], agent, started_at: null, completed_at: null, result: output },
    };
  }
  nodes[`${agent}-${id}`] = {
    status: isComplete(task) ? "complete" : file.resumable ? "pending" : "failed",
    depends_on: Object.keys(nodes),
    agent,
    started_at: file.started_at ?? null,
    completed_at: file.completed_at ?? null,
    result: file.task_title ?? null,
  };
  return nodes;
}

function memberOf(agent: string, tasks: readonly Task[]): Checkpoint["team_state"]["members"][number] {
  const own = tasks.filter((task) => task.agent === agent);
  const tasks_completed = own.filter(isComplete).length;
  const tasks_pending = own.length - tasks_completed;
  const status = own.some(({ file }) => file.status === "blocked")
    ? "blocked"
    : tasks_pending > 0
      ? "active"
      : "idle";
  return { agent, role: agent, status, tasks_completed, tasks_pending };
}

function summaryOf(agent: string, tasks: readonly Task[]): string {
  const own = tasks.filter((task) => task.agent === agent);
  return own.map(({ id, file }) => `${id}: ${file.status}`).join(", ");
}

function filesOf({ file, path }: Task, problems: string[]): Checkpoint["files_modified"] {
  const all = [
    ...file.files_created.map((one) => ({ path: one, status: "added" as const, staged: false })),
    ...file.files_modified.map((one) => ({ path: one, status: "modified" as const, staged: false })),
  ];
  const isSafe = (one: { path: string }) => isSafePath(one.path);
  for (const one of all.filter((each) => !isSafe(each)))
    problems.push(`${quoted(path)}: the file ${quoted(one.path)} is not a path inside the repo`);
  return all.filter(isSafe);
}

/** By its own name; where two tasks have a criterion of one name, the later one with its task's. */
function criteriaOf(tasks: readonly Task[]): Record<string, boolean> {
  const criteria: Record<string, boolean> = {};
  for (const { id, file } of tasks) {
    for (const [name, isMet] of Object.entries(file.acceptance_criteria_met))
      criteria[Object.hasOwn(criteria, name) ? `${id}: ${name}` : name] = isMet;
  }
  return criteria;
}

function errorOf({ file, id }: Task): Checkpoint["error"] {
  const found = file.errors.findLast(({ blocking }) => blocking) ?? file.errors.at(-1);
  if (isOverFor(file.status) || !found) return null;
  const hint = file.resume_instructions ?? `Solve this, then comment \`/crunch\` to go on with ${id}.`;
  return { code: found.type, message: found.message, hint };
}

function isOverFor(status: Task["file"]["status"]): boolean {
  return status === "complete";
}
