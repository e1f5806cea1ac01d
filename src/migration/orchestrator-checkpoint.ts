import type { Checkpoint, PhaseState } from "../checkpoint/schema.js";
import type { Draft } from "./draft.js";
import type { Json } from "./imported.js";
import { gateResult, restOfAgent, textIn, toolInvocation } from "./orchestrator-records.js";
import type { OrchestratorCheckpoint } from "./orchestrator-schema.js";

type Outcome = Pick<Checkpoint, "trigger" | "outcome">;

/** The orchestrator's checkpoint as ours, but for its ids, artifacts and origin. */
export function draftOf(source: OrchestratorCheckpoint): Draft & { readonly metadata: Record<string, Json> } {
  const { phase, type, orchestrator_state: state, agent_states: agents, created_at } = source;
  const started = new Date(Date.parse(created_at) - source.duration_ms);
  const isDated = started.getTime() >= 0;
  const ended = outcomeOf(source);
  const status = type === "PRE" ? "running" : ended.outcome === "failed" ? "failed" : "complete";
  const names = Object.keys(agents);
  const members = Object.entries(agents).map(([agent, { status: is }]) => ({
    ...{ agent, role: phase, status: is },
    ...{ tasks_completed: is === "complete" ? 1 : 0, tasks_pending: is === "complete" ? 0 : 1 },
  }));
  return {
    ...{ type, ...ended, phase_version: source.version, created_at, duration_ms: source.duration_ms },
    workflow_state: {
      ...{ workflow: "orchestrator", current_phase: phase, current_state_label: `state:${phase}` },
      ...{ phase_started_at: isDated ? started.toISOString() : created_at, phase_attempt: 1 },
    },
    orchestrator_state: {
      run_id: state.run_id,
      current_phase: state.current_phase,
      completed_phases: state.completed_phases,
      phases: phasesOf(source, ended),
      handled_events: [],
      intake_summary: {
        started_by: textIn(state.intake_summary, "started_by", "requested_by", "author") ?? "unknown",
        title: textIn(state.intake_summary, "title", "name", "summary") ?? "",
      },
    },
    team_state: { team_id: `TEAM-${state.run_id}`, members },
    execution_graph: {
      graph_id: `GRAPH-${state.run_id}`,
      completed_batches: status === "complete" ? [1] : [],
      current_batch: 1,
      node_states: {
        [phase]: {
          ...{ status, depends_on: [], agent: names.length === 1 ? (names[0] ?? null) : null },
          ...{ started_at: isDated ? started.toISOString() : null, result: null },
          completed_at: type === "PRE" ? null : created_at,
        },
      },
    },
    agent_states: mapped(agents, (agent) => ({
      status: agent.status,
      token_usage: { input: agent.token_usage.input, output: agent.token_usage.output },
      tool_invocations: agent.tool_invocations.map(toolInvocation),
      summary: agent.summary,
    })),
    agent_outputs: mapped(agents, ({ status: is, summary }): Checkpoint["agent_outputs"][string] =>
      is === "complete" && summary !== ""
        ? { [phase]: { completed_at: created_at, output_summary: summary, output_location: null } }
        : {},
    ),
    governance_results: {
      quality_gates: source.governance_results.quality_gates.map((gate) => gateResult(gate, phase)),
      compliance_checks: source.governance_results.compliance_checks.map((one) => gateResult(one, phase)),
      passed: source.governance_results.passed,
    },
    error: ended.outcome === "failed" ? errorOf(source) : null,
    metadata: restOf(source),
  };
}

/** The orchestrator tells failure and approval only by what else is in the checkpoint. */
function outcomeOf({
  type,
  metadata,
  governance_results,
  agent_states,
  phase,
}: OrchestratorCheckpoint): Outcome {
  if (type === "PRE")
    return { trigger: "rollback_from" in metadata ? "rollback" : "phase_start", outcome: null };
  const hasFailed =
    !governance_results.passed ||
    ("error" in metadata && metadata.error !== null) ||
    Object.values(agent_states).some(({ status }) => status === "failed");
  if (hasFailed) return { trigger: "phase_failure", outcome: "failed" };
  const isApproval = "approved_by" in metadata || "approval" in metadata || /^consensus/i.test(phase);
  return isApproval
    ? { trigger: "approval", outcome: "approved" }
    : { trigger: "phase_transition", outcome: "succeeded" };
}

function phasesOf({ phase, type, version, orchestrator_state }: OrchestratorCheckpoint, ended: Outcome) {
  const pending: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
  const done: PhaseState = { status: "succeeded", attempt: 1, version: 1, checkpoint_id: null };
  const status = type === "PRE" ? "running" : ended.outcome === "failed" ? "failed" : "succeeded";
  // Every graph of the orchestrator ends with this phase, so that a run is over only when it is.
  const phases: Record<string, PhaseState> = { complete: pending };
  for (const name of orchestrator_state.completed_phases) phases[name] = done;
  phases[phase] = { ...done, status, version };
  return phases;
}

function errorOf({ metadata, phase }: OrchestratorCheckpoint): Checkpoint["error"] {
  const said = textIn(metadata, "error", "failure") ?? textIn(metadata.error ?? null, "message", "reason");
  const message = said ?? `The phase ${phase} had failed before it was imported.`;
  return { code: "imported_failure", message, hint: "Comment `/crunch` to run the phase again." };
}

/** What has no place of its own, and the originals of what the orchestrator leaves open. */
function restOf(source: OrchestratorCheckpoint): Record<string, Json> {
  const { id: _id, phase: _phase, type: _type, version: _version, created_at: _at, ...more } = source;
  const {
    duration_ms: _ms,
    parent_checkpoint_id: _parent,
    artifacts: _artifacts,
    metadata: _own,
    ...open
  } = more;
  const { orchestrator_state: state, agent_states, governance_results: results, ...unknown } = open;
  const { run_id: _run, current_phase: _current, completed_phases: _done, ...stateRest } = state;
  const { passed: _passed, ...checks } = results;
  const agents = mapped(agent_states, restOfAgent);
  const parts = { orchestrator_state: stateRest, governance_results: checks, agent_states: agents };
  return pruned({ ...unknown, ...parts });
}

function pruned(value: Record<string, Json>): Record<string, Json> {
  const isEmpty = (one: Json): boolean =>
    typeof one === "object" && one !== null && Object.values(one).every(isEmpty);
  return Object.fromEntries(Object.entries(value).filter(([, one]) => !isEmpty(one)));
}

function mapped<T, U>(map: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
