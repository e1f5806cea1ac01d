import { z } from "zod";
import { CheckpointId } from "./id.js";
import { PhaseState } from "./phase-state.js";
import { BranchName, RepoPath } from "./repo-path.js";
import { RunEvent, RunState } from "./run-event.js";

export { PhaseState, PhaseStatus } from "./phase-state.js";

const Text = z.string();
const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const GitSha = z.string().regex(/^[0-9a-f]{40}$/);

export const Trigger = z.enum([
  "phase_start",
  "phase_transition",
  "phase_failure",
  "batch_complete",
  "agent_complete",
  "conflict_start",
  "conflict_resolved",
  "user_interrupt",
  "session_end",
  "manual",
  "approval",
  "rollback",
  "before_human",
  "pause",
  "every_n_events",
]);
export type Trigger = z.infer<typeof Trigger>;

/** Who holds the lease: enough for another session to prove that this one is dead. */
export const Holder = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("process"), host: Text, pid: Count, started_at: Time }),
  z.strictObject({ kind: z.literal("actions"), run_id: Count, run_attempt: Count }),
]);
export type Holder = z.infer<typeof Holder>;

export const Lease = z.strictObject({
  session_id: Text,
  holder: Holder,
  claimed_at: Time,
  expires_at: Time,
});
export type Lease = z.infer<typeof Lease>;

export const TokenUsage = z.strictObject({ input: Count, output: Count });
export type TokenUsage = z.infer<typeof TokenUsage>;

export const GateResult = z.strictObject({
  name: Text,
  type: Text,
  phase: Text,
  status: z.enum(["passed", "failed", "skipped"]),
  summary: Text,
  details: Text,
  duration_ms: Count,
});
export type GateResult = z.infer<typeof GateResult>;

const NodeState = z.strictObject({
  status: z.enum(["pending", "running", "complete", "failed", "skipped"]),
  depends_on: z.array(Text),
  agent: Text.nullable(),
  started_at: Time.nullable(),
  completed_at: Time.nullable(),
  result: Text.nullable(),
  /** What the task was given, as JSON. */
  input: Text.optional(),
});

/** A file by what is in it: the bytes are in `artifacts/<hash>`, once for all checkpoints that name them. */
export const Artifact = z.strictObject({ path: RepoPath, hash: Sha256, size_bytes: Count });
export type Artifact = z.infer<typeof Artifact>;

/** A file of the repo as an agent left it when it was stopped; `hash: null` means deleted. */
export const PartialFile = z.strictObject({
  path: RepoPath,
  mode: z.enum(["100644", "100755", "120000"]),
  status: z.enum(["added", "modified", "deleted"]),
  hash: Sha256.nullable(),
  size_bytes: Count,
  /** The task it is of, where several were at work. */
  task: Text.optional(),
  /** What it was changed on top of: a commit, or for an output the hash it had; `none` for a new one. */
  base: Text.optional(),
});
export type PartialFile = z.infer<typeof PartialFile>;

const Progress = z.strictObject({
  at: Time,
  message: Text,
  percent: z.number().min(0).max(100).nullable(),
  task: Text.optional(),
});

/** The run was put back to an earlier checkpoint, and waits for the word to go on from there. */
const RollbackPause = z.strictObject({ kind: z.literal("rollback") });

/** The world had changed when a session came to go on: what it saw, which an answer has to be about. */
const StalePause = z.strictObject({
  kind: z.literal("stale"),
  body_sha256: Sha256,
  branch_sha: GitSha.nullable(),
});

const Pause = z.discriminatedUnion("kind", [StalePause, RollbackPause]);

const AgentState = z.strictObject({
  status: z.enum(["pending", "running", "complete", "failed"]),
  token_usage: TokenUsage,
  tool_invocations: z.array(z.strictObject({ tool: Text, at: Time.nullable(), summary: Text })),
  summary: Text,
});

const AgentOutput = z.strictObject({
  completed_at: Time,
  output_summary: Text,
  output_location: Text.nullable(),
});

const FileModified = z.strictObject({
  path: Text,
  status: z.enum(["added", "modified", "deleted"]),
  staged: z.boolean(),
});

/** An immutable snapshot of a run. The YAML file also ends with a hash of itself: see codec.ts. */
export const Checkpoint = z.strictObject({
  checkpoint_id: CheckpointId,
  version: z.literal("1.1"),
  /** Its place in the chain, from 1. */
  sequence: z.number().int().positive(),
  type: z.enum(["PRE", "POST"]),
  trigger: Trigger,
  outcome: z.enum(["succeeded", "failed", "skipped", "approved", "interrupted"]).nullable(),
  phase_version: Count,
  created_at: Time,
  duration_ms: Count,
  issue_number: z.number().int().positive(),
  session_id: Text,
  parent_checkpoint_id: CheckpointId.nullable(),
  lease: Lease.nullable(),
  workflow_state: z.strictObject({
    workflow: Text,
    current_phase: Text,
    current_state_label: Text,
    phase_started_at: Time,
    phase_attempt: Count,
  }),
  orchestrator_state: z.strictObject({
    run_id: Text,
    current_phase: Text,
    completed_phases: z.array(Text),
    phases: z.record(Text, PhaseState),
    handled_events: z.array(Text),
    intake_summary: z.strictObject({ started_by: Text, title: Text }),
  }),
  issue_snapshot: z.strictObject({
    title: Text,
    body: Text,
    labels: z.array(Text),
    assignees: z.array(Text),
    branch: BranchName.nullable(),
    head_sha: GitSha.nullable(),
    base_branch: Text,
    base_sha: GitSha,
  }),
  team_state: z.strictObject({
    team_id: Text,
    members: z.array(
      z.strictObject({
        agent: Text,
        role: Text,
        status: Text,
        tasks_completed: Count,
        tasks_pending: Count,
      }),
    ),
  }),
  execution_graph: z.strictObject({
    graph_id: Text,
    completed_batches: z.array(Count),
    current_batch: Count,
    node_states: z.record(Text, NodeState),
  }),
  agent_states: z.record(Text, AgentState),
  agent_outputs: z.record(Text, z.record(Text, AgentOutput)),
  acp_state: z.strictObject({
    pending_messages: z.array(Text),
    awaiting_response: z.array(Text),
    conflicts_in_progress: z.array(Text),
  }),
  knowledge_context: z.strictObject({
    injected_entries: z.array(Text),
    captured_entries: z.array(Text),
    pending_captures: z.array(Text),
  }),
  files_modified: z.array(FileModified),
  artifacts: z.record(Text, Artifact),
  /** What each agent wrote for the next one. */
  notes: z.record(Text, Artifact),
  /** What an agent that was stopped had done to the repo's files so far; given to the next attempt. */
  partial_work: z.array(PartialFile),
  /** The last lines of progress of the phase. */
  progress: z.array(Progress),
  governance_results: z.strictObject({
    quality_gates: z.array(GateResult),
    compliance_checks: z.array(GateResult),
    passed: z.boolean(),
  }),
  acceptance_criteria: z.record(Text, z.boolean()),
  error: z.strictObject({ code: Text, message: Text, hint: Text }).nullable(),
  note: Text.nullable(),
  projections: z.strictObject({
    comment_id: Count.nullable(),
    pull_request: Count.nullable(),
    /** The commit the code branch was last seen at after Crunch had moved it. */
    branch_head: GitSha.nullable(),
  }),
  /** Why nothing goes on by itself. */
  pause: Pause.nullable(),
  recovery_info: z.strictObject({
    can_resume: z.boolean(),
    resume_from: Text.nullable(),
    prerequisites_met: z.boolean(),
    warnings: z.array(Text),
  }),
  metadata: z.record(Text, z.json()),
  run_state: RunState.optional(),
  /** What happened since the checkpoint before. */
  events: z.array(RunEvent).optional(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;
