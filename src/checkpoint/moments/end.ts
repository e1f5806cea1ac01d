import type { CheckpointChange } from "../create.js";
import type { GateResult } from "../schema.js";
import { agentsAfter } from "./agents.js";
import { enter } from "./begin.js";
import type { Moment, TaskReports } from "./moment.js";
import { phaseThatIs, phaseToBegin, type Run, refused, withPhase } from "./run.js";
import { isOpen, mapNodes, type Nodes, reportedNodes, withBatches } from "./tasks.js";

type Ending = Moment<"phase_transition"> | Moment<"phase_failure">;

/** A phase has ended well, or was skipped. */
export function phaseTransition(run: Run, moment: Moment<"phase_transition">, now: string): CheckpointChange {
  if (moment.outcome === "skipped") return skipped(run, moment, now);
  const phase = phaseThatIs(run, "running");
  const governance_results = governanceAfter(run, moment);
  const failed = [...(moment.qualityGates ?? []), ...(moment.complianceChecks ?? [])].filter(isFailed);
  if (failed.length > 0)
    throw refused(
      "gates_failed",
      `The phase ${phase} has not succeeded: ${failed.map(({ name }) => name).join(", ")} failed.`,
      "Report it as `phase_failure`.",
    );
  const reports = withOwnTask(run, phase, moment.tasks ?? {});
  const nodes = reportedNodes(run, reports, now);
  const left = Object.keys(nodes).filter((id) => !/complete|skipped/.test(nodes[id]?.status ?? ""));
  if (left.length > 0)
    throw refused(
      "tasks_open",
      `The phase ${phase} is not over: ${left.slice(0, 20).join(", ")} did not succeed yet.`,
      "Report these tasks first, or the phase as `phase_failure`.",
    );
  return {
    ...{ type: "POST", trigger: "phase_transition", outcome: "succeeded", governance_results },
    ...ended(run, moment, nodes, reports, now),
    orchestrator_state: withPhase(run, phase, { status: "succeeded" }),
  };
}

/** A phase has failed: with the error, and with what there is of its results. */
export function phaseFailure(run: Run, moment: Moment<"phase_failure">, now: string): CheckpointChange {
  const phase = phaseThatIs(run, "running");
  const { error, tasks = {} } = moment;
  const reported = reportedNodes(run, tasks, now);
  const isNamed = Object.values(tasks).some(({ status }) => status === "failed");
  // Where nobody says which task it was, none of those that ran has come to its end.
  const nodes = mapNodes(reported, ({ status }) => {
    if (status !== "running") return {};
    return isNamed
      ? { status: "pending", started_at: null }
      : { status: "failed", completed_at: now, result: error.message };
  });
  return {
    ...{ type: "POST", trigger: "phase_failure", outcome: "failed", error },
    ...ended(run, moment, nodes, tasks, now),
    governance_results: { ...governanceAfter(run, moment), passed: false },
    orchestrator_state: withPhase(run, phase, { status: "failed" }),
    partial_work: run.partial_work,
    progress: run.progress,
  };
}

/** A person has said yes to what was asked. */
export function approval(run: Run, { by, note }: Moment<"approval">): CheckpointChange {
  const phase = phaseThatIs(run, "waiting");
  return {
    ...{ type: "POST", trigger: "approval", outcome: "approved", note: note ?? `approved by @${by}` },
    orchestrator_state: withPhase(run, phase, { status: "succeeded" }),
    metadata: { approved_by: by },
  };
}

function skipped(run: Run, moment: Moment<"phase_transition">, now: string): CheckpointChange {
  const phase = moment.phase ?? run.workflow_state.current_phase;
  const { status, version, attempt } = phaseToBegin(run, phase);
  const isBegun = status === "running" || status === "waiting";
  const nodes = isBegun
    ? mapNodes(run.execution_graph.node_states, (node) => (isOpen(node) ? { status: "skipped" } : {}))
    : {};
  const counted = isBegun ? version : version + 1;
  return {
    ...{ type: "POST", trigger: "phase_transition", outcome: "skipped", phase_version: counted },
    ...(isBegun ? {} : { workflow_state: enter(run, phase, now, Math.max(1, attempt)) }),
    ...ended(run, moment, nodes, {}, now),
    orchestrator_state: withPhase(run, phase, { status: "skipped", version: counted }),
  };
}

function ended(run: Run, { durationMs = 0 }: Ending, nodes: Nodes, reports: TaskReports, now: string) {
  return {
    execution_graph: withBatches(run.execution_graph, nodes),
    ...agentsAfter(run, nodes, reports, now),
    duration_ms: durationMs,
  };
}

/** A phase without planned tasks has one with its own name, which ends with it. */
function withOwnTask({ execution_graph }: Run, phase: string, reports: TaskReports): TaskReports {
  const { node_states: nodes } = execution_graph;
  const own = Object.keys(nodes).length === 1 && Object.hasOwn(nodes, phase) ? nodes[phase] : undefined;
  if (!own || !isOpen(own) || Object.hasOwn(reports, phase)) return reports;
  return { ...reports, [phase]: { summary: "" } };
}

const isFailed = ({ status }: GateResult) => status === "failed";

/** Newer results take the place of the older ones of the same name. */
function governanceAfter({ governance_results: before }: Run, { qualityGates, complianceChecks }: Ending) {
  const merged = (old: readonly GateResult[], now: readonly GateResult[] = []) => {
    const names = new Set(now.map(({ name }) => name));
    return [...old.filter(({ name }) => !names.has(name)), ...now];
  };
  const quality_gates = merged(before.quality_gates, qualityGates);
  const compliance_checks = merged(before.compliance_checks, complianceChecks);
  return {
    quality_gates,
    compliance_checks,
    passed: ![...quality_gates, ...compliance_checks].some(isFailed),
  };
}
