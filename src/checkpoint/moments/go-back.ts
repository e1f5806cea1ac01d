import type { CheckpointChange } from "../create.js";
import { restoreGraph } from "../execution-graph.js";
import type { Layout } from "../layout.js";
import { keptQuestions, type NextPhase, planRollback, type RollbackPlan } from "../rollback.js";
import type { Checkpoint } from "../schema.js";
import { agentStates } from "./agents.js";
import { union } from "./findings.js";
import type { Moment } from "./moment.js";

/** What becomes of a run that goes back to a checkpoint. */
export function rollbackPlan(
  latest: Checkpoint,
  target: Checkpoint,
  order?: readonly string[],
  layout?: Pick<Layout, "chain">,
  nextPhase?: NextPhase,
): RollbackPlan {
  const names = order ?? Object.keys(latest.orchestrator_state.phases);
  return planRollback(latest, target, names, layout, nextPhase);
}

/**
 * The run is again as it was at an earlier checkpoint, which the new one's parent has to be. What has been spent stays
 * spent, and knowledge that was captured stays captured: undoing neither is possible.
 */
export function rollback(
  latest: Checkpoint,
  { target, order, layout, nextPhase }: Moment<"rollback">,
): CheckpointChange {
  const plan = rollbackPlan(latest, target, order, layout, nextPhase);
  const isSamePhase = plan.phase === target.workflow_state.current_phase;
  const graph = graphAt(target, plan, isSamePhase);
  const state = latest.orchestrator_state;
  const names = Object.keys(plan.phases);
  return {
    ...{ type: "PRE", trigger: "rollback", outcome: null, pause: { kind: "rollback" }, lease: null },
    phase_version: Math.max(1, plan.phases[plan.phase]?.version ?? 1),
    workflow_state: {
      ...target.workflow_state,
      current_phase: plan.phase,
      current_state_label: `state:${plan.phase}`,
      phase_attempt: 1,
    },
    orchestrator_state: {
      ...state,
      current_phase: plan.phase,
      phases: plan.phases,
      completed_phases: names.filter((name) => plan.phases[name]?.status === "succeeded"),
    },
    execution_graph: graph,
    // What was asked then is asked again when its phase begins.
    ...(latest.run_state && {
      run_state: { state: target.run_state?.state ?? {}, questions: keptQuestions(target) },
    }),
    agent_states: agentStates(latest.agent_states, graph.node_states),
    team_state: isSamePhase ? target.team_state : { ...target.team_state, members: [] },
    agent_outputs: target.agent_outputs,
    acp_state: target.acp_state,
    knowledge_context: knowledgeAfter(latest.knowledge_context, target.knowledge_context),
    governance_results: target.governance_results,
    acceptance_criteria: target.acceptance_criteria,
    artifacts: plan.artifacts,
    notes: plan.notes,
    partial_work: plan.partialWork,
    files_modified: [],
    metadata: {
      rollback_from: latest.checkpoint_id,
      rollback_to: target.checkpoint_id,
      archived: plan.archived.map((artifact) => ({ ...artifact })),
    },
  };
}

/** The tasks of phases that had not ended: what was complete of them stays so. */
function graphAt(target: Checkpoint, { phases }: RollbackPlan, isSamePhase: boolean) {
  const graph = restoreGraph(target.execution_graph);
  const isKept = (key: string) => {
    const [phase = "", task] = key.split("/");
    if (task === undefined) return isSamePhase;
    const status = phases[phase]?.status;
    return status === "pending" || status === "waiting";
  };
  const kept = Object.entries(graph.node_states).filter(([key]) => isKept(key));
  const batches = isSamePhase ? {} : { completed_batches: [], current_batch: 1 };
  return { ...graph, ...batches, node_states: Object.fromEntries(kept) };
}

type Knowledge = Checkpoint["knowledge_context"];

function knowledgeAfter(now: Knowledge, then: Knowledge): Knowledge {
  const captured = union(then.captured_entries, now.captured_entries);
  return {
    injected_entries: then.injected_entries,
    captured_entries: captured,
    pending_captures: then.pending_captures.filter((entry) => !captured.includes(entry)),
  };
}
