import { z } from "zod";
import { Count, Name, Text, Time } from "./outside.js";

const Json = z.json();
const List = z.array(Json).default([]);
const Fields = z.record(Text, Json).default({});

/** The orchestrator's artifact. Its path and hash are judged one by one, so that a bad one does not hide the checkpoint. */
export const OrchestratorArtifact = z
  .object({ path: Text, hash: Text, size_bytes: Count.optional() })
  .catchall(Json);
export type OrchestratorArtifact = z.infer<typeof OrchestratorArtifact>;

const AgentState = z
  .object({
    status: z.enum(["pending", "running", "complete", "failed"]),
    token_usage: z.object({ input: Count, output: Count }).catchall(Json).default({ input: 0, output: 0 }),
    tool_invocations: List,
    summary: Text.default(""),
  })
  .catchall(Json);
export type OrchestratorAgent = z.infer<typeof AgentState>;

/** The orchestrator's checkpoint, as `.claude/checkpoints/run-<id>/` has it. What the orchestrator does not name is kept, not refused. */
export const OrchestratorCheckpoint = z
  .object({
    id: Text.min(1).max(200),
    phase: Name,
    type: z.enum(["PRE", "POST"]),
    version: Count,
    created_at: Time,
    duration_ms: Count.default(0),
    orchestrator_state: z
      .object({
        run_id: Text.min(1).max(200),
        current_phase: Name,
        completed_phases: z.array(Name).default([]),
        intake_summary: Fields,
      })
      .catchall(Json),
    agent_states: z.record(Name, AgentState).default({}),
    artifacts: z.record(Text, OrchestratorArtifact).default({}),
    governance_results: z
      .object({ quality_gates: List, compliance_checks: List, passed: z.boolean() })
      .catchall(Json)
      .default({ quality_gates: [], compliance_checks: [], passed: true }),
    parent_checkpoint_id: Text.nullable().default(null),
    metadata: Fields,
  })
  .catchall(Json);
export type OrchestratorCheckpoint = z.infer<typeof OrchestratorCheckpoint>;
