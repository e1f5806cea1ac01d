import type { Checkpoint } from "../schema.js";
import type { TaskReport, TaskReports } from "./moment.js";
import type { Run } from "./run.js";
import { isOpen, type Nodes } from "./tasks.js";

type AgentState = Checkpoint["agent_states"][string];

/** Of each agent: what it called before that is of little use to anybody, and a checkpoint has a limit. */
const invocationsKept = 200;

const fresh: AgentState = {
  ...{ status: "pending", token_usage: { input: 0, output: 0 }, tool_invocations: [], summary: "" },
};

/** What the agents have done, spent and said, after what was reported. */
export function agentsAfter(run: Run, nodes: Nodes, reports: TaskReports, now: string) {
  const states = new Map(Object.entries(run.agent_states));
  const outputs = new Map(Object.entries(run.agent_outputs));
  for (const [task, report] of Object.entries(reports)) {
    const agent = report.agent ?? nodes[task]?.agent ?? null;
    if (agent === null) continue;
    states.set(agent, withReport(states.get(agent) ?? fresh, report));
    if ((report.status ?? "complete") !== "complete") continue;
    const said = {
      ...{ completed_at: now, output_summary: report.summary },
      output_location: report.outputLocation ?? null,
    };
    outputs.set(agent, { ...outputs.get(agent), [task]: said });
  }
  return {
    agent_states: agentStates(Object.fromEntries(states), nodes),
    agent_outputs: Object.fromEntries(outputs),
    team_state: teamOf(run, nodes),
  };
}

function withReport(before: AgentState, report: TaskReport): AgentState {
  const { tokenUsage: used = { input: 0, output: 0 }, toolInvocations = [] } = report;
  const { input, output } = before.token_usage;
  return {
    ...before,
    token_usage: { input: input + used.input, output: output + used.output },
    tool_invocations: [...before.tool_invocations, ...toolInvocations].slice(-invocationsKept),
    summary: report.summary,
  };
}

/** The status of each agent that has tasks in this phase follows from them; others keep theirs. */
export function agentStates(states: Checkpoint["agent_states"], nodes: Nodes): Checkpoint["agent_states"] {
  const found = new Map(Object.entries(states));
  for (const [agent, tasks] of tasksByAgent(nodes))
    found.set(agent, { ...(found.get(agent) ?? fresh), status: statusOf(tasks) });
  return Object.fromEntries(found);
}

function statusOf(tasks: readonly Nodes[string][]): AgentState["status"] {
  const has = (status: Nodes[string]["status"]) => tasks.some((task) => task.status === status);
  if (has("running")) return "running";
  if (has("failed")) return "failed";
  return has("pending") ? "pending" : "complete";
}

/** The team of the phase: who has tasks in it, and how far each has come. */
export function teamOf({ team_state, workflow_state }: Run, nodes: Nodes): Checkpoint["team_state"] {
  const roles = new Map(team_state.members.map(({ agent, role }) => [agent, role]));
  const words = { running: "active", pending: "waiting", complete: "done", failed: "failed" } as const;
  const members = [...tasksByAgent(nodes)].map(([agent, tasks]) => ({
    agent,
    role: roles.get(agent) ?? workflow_state.current_phase,
    status: words[statusOf(tasks)],
    tasks_completed: tasks.filter(({ status }) => status === "complete").length,
    tasks_pending: tasks.filter(isOpen).length,
  }));
  return { ...team_state, members };
}

function tasksByAgent(nodes: Nodes): ReadonlyMap<string, readonly Nodes[string][]> {
  const found = new Map<string, Nodes[string][]>();
  for (const node of Object.values(nodes)) {
    if (node.agent === null) continue;
    const tasks = found.get(node.agent);
    if (tasks) tasks.push(node);
    else found.set(node.agent, [node]);
  }
  return found;
}
