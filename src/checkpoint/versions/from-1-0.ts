import { firstIssue, invalidCheckpoint } from "../refusal.js";
import type { Checkpoint, Trigger } from "../schema.js";
import { placeOf, triggerOf } from "./place-1-0.js";
import { Checkpoint1_0 } from "./v1-0.js";
import { createWords, fileStatus, nodeStatus } from "./words-1-0.js";

/** Git's own way to say "no commit": version 1.0 does not tell what the branch was made from. */
export const unknownCommit = "0".repeat(40);

/**
 * Version 1.0 as 1.1. What 1.1 adds is derived from the rest; what it has no place for is kept in `metadata`.
 * Why the checkpoint was made is in the plain layout's index only: whoever has read that passes it.
 */
export function from1_0(value: unknown, knownTrigger?: Trigger): Checkpoint {
  const parsed = Checkpoint1_0.safeParse(value);
  if (!parsed.success) throw invalidCheckpoint(firstIssue(parsed.error), parsed.error);
  const old = parsed.data;
  const words = createWords();
  const trigger = knownTrigger ?? triggerOf(old);
  const started = words.time("workflow_state.phase_started_at", old.workflow_state.phase_started_at);
  const created = words.time("created_at", old.created_at);
  const node_states = nodesOf(old, words);
  const files_modified = old.files_modified.map((file, at) => ({
    ...file,
    status: words.translate(`files_modified.${at}.status`, file.status, fileStatus, "modified"),
  }));
  const agent_outputs = outputsOf(old, words);
  return {
    checkpoint_id: old.checkpoint_id,
    version: "1.1",
    // Its place in the chain is not written in it. The only use of the number is to make ids longer in time.
    sequence: 1,
    ...placeOf(old, trigger),
    phase_version: 1,
    created_at: created,
    duration_ms: trigger === "phase_transition" ? Math.max(0, Date.parse(created) - Date.parse(started)) : 0,
    issue_number: old.issue_number,
    session_id: old.session_id,
    parent_checkpoint_id: null,
    lease: null,
    workflow_state: { workflow: "crunch", ...old.workflow_state, phase_started_at: started },
    issue_snapshot: {
      ...old.issue_snapshot,
      head_sha: null,
      base_branch: "main",
      base_sha: unknownCommit,
    },
    team_state: old.team_state,
    execution_graph: { ...old.execution_graph, node_states },
    agent_states: agentStatesOf(old),
    agent_outputs,
    acp_state: old.acp_state,
    knowledge_context: old.knowledge_context,
    files_modified,
    artifacts: {},
    notes: {},
    partial_work: [],
    progress: [],
    governance_results: { quality_gates: [], compliance_checks: [], passed: true },
    acceptance_criteria: {},
    error: null,
    note: null,
    projections: { comment_id: null, pull_request: null, branch_head: null },
    pause: null,
    recovery_info: old.recovery_info,
    metadata: {
      upgraded_from: "1.0",
      // Crunch always computes its own, so what the file said of itself would be lost.
      version_1_0: { recovery_info: old.recovery_info, ...words.kept() },
    },
  };
}

type Words = ReturnType<typeof createWords>;

function nodesOf({ execution_graph }: Checkpoint1_0, words: Words) {
  const nodes: Checkpoint["execution_graph"]["node_states"] = {};
  for (const [id, node] of Object.entries(execution_graph.node_states)) {
    const at = `execution_graph.node_states.${id}`;
    nodes[id] = {
      status: words.translate(`${at}.status`, node.status, nodeStatus, "pending"),
      depends_on: [],
      agent: null,
      started_at: node.started_at ? words.time(`${at}.started_at`, node.started_at) : null,
      completed_at: node.completed_at ? words.time(`${at}.completed_at`, node.completed_at) : null,
      result: words.text(`${at}.result`, node.result ?? null),
    };
  }
  return nodes;
}

function outputsOf({ agent_outputs }: Checkpoint1_0, words: Words): Checkpoint["agent_outputs"] {
  const result: Checkpoint["agent_outputs"] = {};
  for (const [agent, tasks] of Object.entries(agent_outputs)) {
    const outputs: Checkpoint["agent_outputs"][string] = {};
    for (const [task, output] of Object.entries(tasks)) {
      const place = `agent_outputs.${agent}.${task}.completed_at`;
      outputs[task] = { ...output, completed_at: words.time(place, output.completed_at) };
    }
    result[agent] = outputs;
  }
  return result;
}

/** Who has given a result and has nothing left to do is complete; anybody else is to be asked again. */
function agentStatesOf({ team_state, agent_outputs }: Checkpoint1_0): Checkpoint["agent_states"] {
  const members = new Map(team_state.members.map((member) => [member.agent, member]));
  const states: Checkpoint["agent_states"] = {};
  for (const agent of new Set([...members.keys(), ...Object.keys(agent_outputs)])) {
    const member = members.get(agent);
    const outputs = Object.values(Object.hasOwn(agent_outputs, agent) ? (agent_outputs[agent] ?? {}) : {});
    const isDone = outputs.length > 0 && (member?.tasks_pending ?? 0) === 0;
    states[agent] = {
      status: member?.status === "failed" ? "failed" : isDone ? "complete" : "pending",
      token_usage: { input: 0, output: 0 },
      tool_invocations: [],
      summary: outputs.map(({ output_summary }) => output_summary).join("\n"),
    };
  }
  return states;
}
