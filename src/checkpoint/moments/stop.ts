import type { CheckpointChange } from "../create.js";
import { agentStates, teamOf } from "./agents.js";
import type { Moment } from "./moment.js";
import { type Run, stateOf, withPhase } from "./run.js";
import { mapNodes } from "./tasks.js";

/** The state that the run is in, which a checkpoint that changes nothing of it has to say again. */
export function kept({ type, outcome, duration_ms, error, pause, partial_work, progress }: Run) {
  return { type, outcome, duration_ms, error, pause, partial_work, progress };
}

/**
 * The session has to stop. Nothing runs any more, and nobody holds the run: whoever comes next goes on at once, with
 * the unfinished work. Between two phases there is nothing to stop, only to save.
 */
export function stopped(run: Run, trigger: "user_interrupt" | "session_end"): CheckpointChange {
  const phase = run.workflow_state.current_phase;
  if (stateOf(run, phase).status !== "running") return { ...kept(run), trigger, lease: null };
  const nodes = mapNodes(run.execution_graph.node_states, ({ status }) =>
    status === "running" ? { status: "pending", started_at: null } : {},
  );
  return {
    ...{ ...kept(run), type: "PRE", trigger, outcome: "interrupted", lease: null },
    orchestrator_state: withPhase(run, phase, { status: "pending" }),
    execution_graph: { ...run.execution_graph, node_states: nodes },
    agent_states: agentStates(run.agent_states, nodes),
    team_state: teamOf(run, nodes),
  };
}

/** A person wants to be able to come back to this very state. */
export function manual(run: Run): CheckpointChange {
  return { ...kept(run), trigger: "manual", metadata: run.metadata };
}

/** Nothing goes on before somebody has answered. */
export function paused(run: Run, { pause }: Moment<"pause">): CheckpointChange {
  return { ...kept(run), trigger: "pause", pause, lease: null };
}
