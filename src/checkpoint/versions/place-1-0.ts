import type { Checkpoint, PhaseState, Trigger } from "../schema.js";
import { type Checkpoint1_0, phases1_0 } from "./v1-0.js";
import { nodeStatus } from "./words-1-0.js";

type Place = Pick<Checkpoint, "type" | "trigger" | "outcome" | "orchestrator_state">;

/** Version 1.0 says why a checkpoint was made in the index only. Without it the state has to tell. */
export function triggerOf({ acp_state, execution_graph }: Checkpoint1_0): Trigger {
  if (acp_state.conflicts_in_progress.length > 0) return "conflict_start";
  const nodes = Object.values(execution_graph.node_states);
  const isOver = ({ status }: { status: string }) =>
    ["complete", "skipped"].includes(nodeStatus[status] ?? "");
  if (nodes.length > 0 && nodes.every(isOver)) return "phase_transition";
  // Of the rest, manual ones are never removed by retention: what is not known is better kept.
  return execution_graph.completed_batches.length > 0 ? "batch_complete" : "manual";
}

/** Where the run stood, from the phase and the reason alone: the plain layout's phases follow one another in one order. */
export function placeOf(
  { workflow_state, issue_snapshot, issue_number }: Checkpoint1_0,
  trigger: Trigger,
): Place {
  const { current_phase: current, phase_attempt } = workflow_state;
  const at = phases1_0.indexOf(current);
  const hasEnded = trigger === "phase_transition";
  const isInterrupted = trigger === "user_interrupt" || trigger === "session_end";
  const ended: PhaseState = { status: "succeeded", attempt: 1, version: 1, checkpoint_id: null };
  const pending: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
  const open = current === "ready" ? "waiting" : "running";
  const phases = Object.fromEntries(
    phases1_0.map((phase, index): [string, PhaseState] => {
      if (index !== at) return [phase, index < at ? ended : pending];
      return [phase, { ...ended, status: hasEnded ? "succeeded" : open, attempt: phase_attempt }];
    }),
  );
  const isOver = hasEnded && at === phases1_0.length - 1;
  const completed: string[] = phases1_0.slice(0, hasEnded ? at + 1 : at);
  return {
    // A rollback to a PRE runs the phase again, which is right for all that was saved in its midst.
    type: hasEnded ? "POST" : "PRE",
    trigger,
    outcome: hasEnded ? "succeeded" : isInterrupted ? "interrupted" : null,
    orchestrator_state: {
      // An issue had one run, and every checkpoint of it must get the same name.
      run_id: `RUN-issue-${issue_number}`,
      current_phase: current,
      completed_phases: isOver ? [...completed, "done"] : completed,
      phases: { ...phases, done: isOver ? ended : pending },
      handled_events: [],
      intake_summary: { started_by: "unknown", title: issue_snapshot.title },
    },
  };
}
