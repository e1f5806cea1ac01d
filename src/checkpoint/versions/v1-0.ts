import { z } from "zod";

const Text = z.string();
/** Other tools wrote these too, in their own time zones. */
const Time = z.iso.datetime({ offset: true });
const Count = z.number().int().nonnegative();

/** The plain layout's phases, in their order. Version 1.0 knows no other workflow. */
export const phases1_0 = ["enrich", "ready", "implementing", "validation", "docs"] as const;

/** The checkpoint of version "1.0": the plain layout's full structure, and nothing else. */
export const Checkpoint1_0 = z.strictObject({
  checkpoint_id: Text,
  version: z.literal("1.0"),
  created_at: Time,
  issue_number: z.number().int().positive(),
  session_id: Text,
  workflow_state: z.strictObject({
    current_phase: z.enum(phases1_0),
    current_state_label: Text,
    phase_started_at: Time,
    phase_attempt: Count,
  }),
  issue_snapshot: z.strictObject({
    title: Text,
    body: Text,
    labels: z.array(Text),
    assignees: z.array(Text),
    branch: Text.nullable(),
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
    /** As the plain layout's `restore_graph_state` reads them: everything but the status may be absent. */
    node_states: z.record(
      Text,
      z.strictObject({
        status: Text,
        result: z.json().optional(),
        started_at: Time.nullish(),
        completed_at: Time.nullish(),
      }),
    ),
  }),
  agent_outputs: z.record(
    Text,
    z.record(
      Text,
      z.strictObject({ completed_at: Time, output_summary: Text, output_location: Text.nullable() }),
    ),
  ),
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
  files_modified: z.array(z.strictObject({ path: Text, status: Text, staged: z.boolean() })),
  recovery_info: z.strictObject({
    can_resume: z.boolean(),
    resume_from: Text.nullable(),
    prerequisites_met: z.boolean(),
    warnings: z.array(Text),
  }),
});
export type Checkpoint1_0 = z.infer<typeof Checkpoint1_0>;
