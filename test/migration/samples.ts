import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");

export function filesOf(entries: Readonly<Record<string, unknown>>): Map<string, Buffer> {
  const bytes = (value: unknown) =>
    Buffer.isBuffer(value) ? value : Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  return new Map(Object.entries(entries).map(([path, value]) => [path, bytes(value)]));
}

const plan = "# Plan\n";

/** The orchestrator's checkpoint with all that its structure names. */
export function anOrchestratorCheckpoint(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    id: "0b3f0f5e-8d43-4c5e-9a55-1c2d3e4f5a6b",
    phase: "planning",
    type: "POST",
    version: 1,
    created_at: "2025-11-21T10:20:00Z",
    duration_ms: 1_200_000,
    orchestrator_state: {
      run_id: "r7",
      current_phase: "planning",
      completed_phases: ["intake", "planning"],
      intake_summary: { title: "Churn model", requested_by: "dana", goals: ["weekly scores"] },
    },
    agent_states: {
      architect: {
        status: "complete",
        token_usage: { input: 12_000, output: 3400, cached: 800 },
        tool_invocations: [
          { tool: "write_file", timestamp: "2025-11-21T10:10:00Z", summary: "plan.md", exit: 0 },
        ],
        summary: "Planned in three steps",
        model: "large",
      },
    },
    artifacts: {
      plan: { path: "docs/plan.md", hash: sha256(plan), size_bytes: plan.length, kind: "markdown" },
    },
    governance_results: {
      quality_gates: [{ gate: "plan-review", passed: true, message: "fine", score: 0.9 }],
      compliance_checks: [{ name: "licences", status: "skipped" }],
      passed: true,
    },
    parent_checkpoint_id: "pre-1",
    metadata: { cost_usd: 0.42 },
    experiment: { arm: "b" },
    ...changes,
  };
}

/** A run that planned, developed, was rolled back to the plan, and began to develop again. */
export function anOrchestratorRun(): Record<string, unknown> {
  const post = anOrchestratorCheckpoint();
  const nothing = { agent_states: {}, artifacts: {}, experiment: undefined, metadata: {} };
  const state = (phase: string) => ({ ...post.orchestrator_state, current_phase: phase });
  const at = (time: string) => ({ created_at: `2025-11-21T${time}Z`, duration_ms: 0 });
  const development = { phase: "development", orchestrator_state: state("development"), ...nothing };
  const root = ".claude/checkpoints";
  return {
    [`${root}/run-r7/PRE_planning_v1.json`]: anOrchestratorCheckpoint({
      ...{ ...nothing, id: "pre-1", type: "PRE", parent_checkpoint_id: null, ...at("10:00:00") },
      orchestrator_state: { ...state("planning"), completed_phases: ["intake"] },
    }),
    [`${root}/run-r7/POST_planning_v1.json`]: post,
    [`${root}/run-r7/PRE_development_v1.json`]: anOrchestratorCheckpoint({
      ...{ ...development, id: "pre-2", type: "PRE", parent_checkpoint_id: post.id, ...at("10:20:00") },
    }),
    [`${root}/run-r7/POST_development_v1.json`]: anOrchestratorCheckpoint({
      ...{ ...development, id: "post-2", parent_checkpoint_id: "pre-2", ...at("11:00:00") },
      governance_results: {
        quality_gates: [{ name: "tests", passed: false }],
        compliance_checks: [],
        passed: false,
      },
      metadata: { error: "2 tests fail" },
    }),
    [`${root}/run-r7/PRE_development_v2.json`]: anOrchestratorCheckpoint({
      ...{
        ...development,
        id: "pre-3",
        type: "PRE",
        version: 2,
        parent_checkpoint_id: post.id,
        ...at("11:30:00"),
      },
      metadata: { rollback_from: "post-2" },
    }),
    [`${root}/artifacts/${post.id}/${sha256(plan)}`]: plan,
    [`${root}/index.json`]: { runs: { r7: [{ id: "pre-1" }, { id: post.id }, { id: "post-2" }] } },
  };
}

/** The progress files' own example, with the fields of its other examples. */
export function aProgressFile(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    checkpoint_id: "migration-T060-20251208-143025",
    agent: "migration",
    agent_name: "Riley",
    task_id: "T060",
    task_title: "Convert Nature Trail PDFs to Markdown",
    status: "in_progress",
    progress_percent: 65,
    started_at: "2025-12-08T14:30:25Z",
    updated_at: "2025-12-08T15:52:10+01:00",
    completed_at: null,
    subtasks: {
      total: 29,
      completed: 19,
      failed: 0,
      items: [
        { id: "post-01", status: "complete", output: "pdfs-markdown/nature-trail/post-01.md" },
        { id: "post-02", status: "failed", output: null, reason: "unreadable" },
        { id: "post-20", status: "in_progress", output: null },
        { id: "post-21", status: "pending", output: null },
      ],
    },
    files_created: ["docs/post-01.md"],
    files_modified: ["docs/MANIFEST.json"],
    acceptance_criteria_met: { "29_files_created": false, frontmatter_valid: true },
    review_scores: { agent_4: 85, agent_5: null },
    errors: [
      {
        ...{ type: "dependency_missing", message: "Cannot find Post20English.pdf" },
        ...{ timestamp: "2025-12-08T14:52:10Z", blocking: true },
      },
    ],
    context: { last_processed: "Post19English.pdf", next_to_process: "Post20English.pdf", pages: [1, 2] },
    heartbeat: { last_beat: "2025-12-08T14:55:00Z", interval_seconds: 300, status: "alive" },
    resumable: true,
    resume_instructions: "Continue from post-20.md, source: Post20English.pdf",
    ...changes,
  };
}

const fixture = readFileSync(join(import.meta.dirname, "../fixtures/checkpoints/v1.0.yaml"), "utf8");

/** The plain layout's checkpoint as the plain layout has it: without a hash. */
export function anS3File(changes: Readonly<Record<string, string>> = {}): string {
  const plain = fixture.slice(0, fixture.lastIndexOf("content_sha256"));
  return Object.entries(changes).reduce((text, [from, to]) => text.replaceAll(from, to), plain);
}

export function aPlainFolder(): Record<string, unknown> {
  const first = { "CP-implementing-20250114-b4c5": "CP-enrich-20250114-a3f2", "T10:30:00Z": "T09:50:00Z" };
  return {
    "checkpoints/CP-implementing-20250114-b4c5.yaml": anS3File(),
    "checkpoints/CP-enrich-20250114-a3f2.yaml": anS3File({
      ...first,
      "current_phase: implementing": "current_phase: enrich",
    }),
    "checkpoints/latest": "CP-implementing-20250114-b4c5.yaml",
    "checkpoints/index.yaml": `issue_number: 42
checkpoints:
  - checkpoint_id: CP-enrich-20250114-a3f2
    created_at: "2025-01-14T09:50:00Z"
    trigger: phase_transition
    phase: enrich
    can_resume: true
  - checkpoint_id: CP-implementing-20250114-b4c5
    created_at: "2025-01-14T10:30:00Z"
    trigger: user_interrupt
    phase: implementing
    can_resume: true
latest: CP-implementing-20250114-b4c5
total_checkpoints: 2
`,
    "spec.md": "# Spec\n",
  };
}
