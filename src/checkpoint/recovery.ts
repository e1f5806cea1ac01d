import { blockedTasks, resumePoint } from "./execution-graph.js";
import type { Checkpoint } from "./schema.js";

type State = Pick<
  Checkpoint,
  "execution_graph" | "orchestrator_state" | "workflow_state" | "error" | "acp_state" | "partial_work"
>;

/**
 * Whether and where a session can go on from a checkpoint. Always computed from the rest of it: what a file says
 * about itself here is not taken on trust.
 */
export function recoveryInfo(state: State): Checkpoint["recovery_info"] {
  const phases = Object.values(state.orchestrator_state.phases);
  const isOver = phases.every(({ status }) => status === "succeeded" || status === "skipped");
  const blocked = blockedTasks(state.execution_graph.node_states);
  const unfinished = state.partial_work.length;
  const warnings = [
    ...(state.error ? [state.error.message] : []),
    ...blocked.map((task) => `the task ${task} waits for one that did not succeed`),
    ...state.acp_state.conflicts_in_progress.map((conflict) => `the conflict ${conflict} is not resolved`),
    ...(unfinished > 0
      ? [`${unfinished} ${unfinished === 1 ? "file was" : "files were"} changed but not finished`]
      : []),
  ];
  return {
    can_resume: !isOver,
    resume_from: resumePoint(state.execution_graph),
    prerequisites_met: blocked.length === 0 && state.acp_state.conflicts_in_progress.length === 0,
    warnings,
  };
}
