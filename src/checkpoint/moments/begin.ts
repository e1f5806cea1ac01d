import type { CheckpointChange } from "../create.js";
import { blockedTasks } from "../execution-graph.js";
import type { Checkpoint, PhaseState } from "../schema.js";
import { agentStates, teamOf } from "./agents.js";
import type { Moment, Task } from "./moment.js";
import { phaseToBegin, type Run, refused, withPhase } from "./run.js";
import { mapNodes, type Nodes, plannedNodes, withBatches, withReadyBegun } from "./tasks.js";

/**
 * A phase begins, or is taken up again by another session: then what is complete stays so. It is a new version of the
 * phase, unless an attempt was cut off.
 */
export function phaseStart(run: Run, moment: Moment<"phase_start">, now: string): CheckpointChange {
  const { phase, tasks } = moment;
  const before = phaseToBegin(run, phase);
  if (before.status === "waiting")
    throw refused(
      "phase_waits",
      `The phase ${phase} waits for a person.`,
      "Record the answer with `approval` first.",
    );
  const isCutOff = before.attempt > 0 && before.status !== "failed";
  const attempt = isCutOff ? before.attempt + 1 : 1;
  const version = before.version + (isCutOff ? 0 : 1);
  const begun = withReadyBegun(nodesFor(run, phase, tasks), now);
  const graph = withBatches(run.execution_graph, begun);
  // What was left unfinished is for the next attempt; what failed is only there to be looked at.
  const isUnfinished = isTakenUp(run, phase) && run.type === "PRE";
  const members = isTakenUp(run, phase) ? run.team_state.members : [];
  const workflow_state = enter(run, phase, now, attempt);
  return {
    ...{ type: "PRE", trigger: "phase_start", outcome: null, phase_version: version, workflow_state },
    orchestrator_state: withPhase(run, phase, { status: "running", attempt, version }),
    execution_graph: graph,
    agent_states: agentStates(run.agent_states, begun),
    team_state: teamOf({ ...run, workflow_state, team_state: { ...run.team_state, members } }, begun),
    partial_work: isUnfinished ? run.partial_work : [],
    progress: isUnfinished ? run.progress : [],
    files_modified: isUnfinished ? run.files_modified : [],
    metadata: run.error ? { previous_error: run.error.message } : {},
  };
}

/** A person is asked. The phase waits for the answer, and nothing runs meanwhile. */
export function beforeHuman(run: Run, moment: Moment<"before_human">, now: string): CheckpointChange {
  const { phase, question } = moment;
  const before = phaseToBegin(run, phase);
  if (before.status === "running" || before.status === "waiting")
    throw refused(
      "phase_begun",
      `The phase ${phase} is ${before.status} already.`,
      "Ask before a phase begins: give the question a phase of its own.",
    );
  const version = before.version + 1;
  return {
    ...{ type: "PRE", trigger: "before_human", outcome: null, phase_version: version },
    workflow_state: enter(run, phase, now, 1),
    orchestrator_state: withPhase(run, phase, { status: "waiting", version }),
    execution_graph: withBatches(run.execution_graph, {}),
    team_state: { ...run.team_state, members: [] },
    ...(question === undefined ? {} : { metadata: { question } }),
  };
}

/** Whether the graph of the latest checkpoint is that of the phase: of an attempt that did not come to its end. */
export function isTakenUp({ workflow_state, execution_graph }: Run, phase: string): boolean {
  return workflow_state.current_phase === phase && Object.keys(execution_graph.node_states).length > 0;
}

/** The tasks of a phase that is taken up again: what is over stays over, all else is to be done. */
export function reopened(nodes: Nodes): Nodes {
  return mapNodes(nodes, ({ status }) =>
    status === "complete" || status === "skipped"
      ? {}
      : { status: "pending", started_at: null, completed_at: null, result: null },
  );
}

function nodesFor(run: Run, phase: string, tasks: Readonly<Record<string, Task>> | undefined): Nodes {
  const known = isTakenUp(run, phase) ? reopened(run.execution_graph.node_states) : {};
  if (tasks === undefined && isTakenUp(run, phase)) return known;
  const planned = plannedNodes(tasks ?? { [phase]: {} });
  const blocked = blockedTasks(planned);
  if (blocked.length > 0)
    throw refused(
      "graph_invalid",
      `These tasks can never be done: ${blocked.slice(0, 20).join(", ")}.`,
      "Each task may only need tasks of the same phase, and none may need itself in the end.",
    );
  return mapNodes(planned, (_, id) => {
    const before = Object.hasOwn(known, id) ? known[id] : undefined;
    return before && before.status !== "pending" ? before : {};
  });
}

export function enter(
  { workflow_state }: Run,
  phase: string,
  now: string,
  attempt: PhaseState["attempt"],
): Checkpoint["workflow_state"] {
  return {
    ...workflow_state,
    current_phase: phase,
    current_state_label: `state:${phase}`,
    phase_started_at: now,
    phase_attempt: attempt,
  };
}
