import { createHash } from "node:crypto";
import {
  type CheckpointChange,
  emptyRun,
  firstCheckpoint,
  type Maker,
  nextCheckpoint,
} from "../../src/checkpoint/create.js";
import type { Artifact, Checkpoint } from "../../src/checkpoint/schema.js";
import { aGateResult, aMaker, anIssue, phasesWith, type Statuses } from "../builders.js";

export const order = ["enrich", "ready", "implementing", "validation", "docs", "done"];

const texts = {
  spec: "# Dark mode\n\nThe page follows the system's colours.\n\n## Open\n- Which colours for charts?\n",
  spec2:
    "# Dark mode\n\nThe page follows the system's colours.\nA switch in the settings overrides it.\n\n## Charts\nCharts use the palette of the theme.\n",
  notes: "- theme lives in src/theme.ts\n- tests need a browser\n",
  notes2: "- theme lives in src/theme.ts\n- tests run in jsdom now\n- charts read CSS variables\n",
};

export function anArtifact(path: string, content: string): Artifact {
  const hash = createHash("sha256").update(content).digest("hex");
  return { path, hash, size_bytes: Buffer.byteLength(content) };
}

export function artifacts(files: Readonly<Record<string, string>>): Record<string, Artifact> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, anArtifact(path, text)]));
}

/** A maker whose clock goes on by five minutes with every checkpoint. */
function aTickingMaker(): Maker {
  let made = 0;
  return { ...aMaker(), now: () => new Date(Date.UTC(2025, 0, 14, 10, 5 * made++, 7)) };
}

export function at(phase: string, attempt = 1): Pick<Checkpoint, "workflow_state"> {
  const phase_started_at = "2025-01-14T10:00:00.000Z";
  const names = { current_phase: phase, current_state_label: `state:${phase}` };
  return { workflow_state: { workflow: "crunch", ...names, phase_started_at, phase_attempt: attempt } };
}

export function standing(from: Checkpoint, statuses: Statuses): Pick<Checkpoint, "orchestrator_state"> {
  const { orchestrator_state: run } = from;
  return { orchestrator_state: { ...run, phases: phasesWith(statuses) } };
}

function start(maker: Maker): Checkpoint {
  const { title, body, number: issue } = anIssue();
  const run = emptyRun({
    ...{ issue, workflow: "crunch", phase: "enrich", phases: phasesWith({ enrich: "running" }) },
    snapshot: {
      ...{
        title,
        body: `${body}\n\n- [ ] follow the system\n`,
        labels: ["ui", "state:enrich"],
        assignees: [],
      },
      ...{ branch: null, head_sha: null, base_branch: "main", base_sha: "0".repeat(40) },
    },
    ...{ startedBy: "octocat", maker },
  });
  return firstCheckpoint(run, { type: "PRE", trigger: "phase_start", outcome: null }, maker);
}

const used = (input: number, output: number) => ({
  ...{ status: "complete" as const, tool_invocations: [], summary: "" },
  token_usage: { input, output },
});

const output = (output_summary: string) => ({
  ...{ completed_at: "2025-01-14T10:10:00.000Z", output_summary, output_location: null },
});

/** A run as people know them: specified, failed by a test, done again. */
export function aRun() {
  const maker = aTickingMaker();
  const next = (parent: Checkpoint, change: CheckpointChange) => nextCheckpoint(parent, change, maker);
  const first = start(maker);
  const specified = next(first, {
    ...{ type: "POST", trigger: "phase_transition", outcome: "succeeded", duration_ms: 184_000 },
    ...standing(first, { enrich: "succeeded", ready: "skipped" }),
    artifacts: artifacts({ "spec.md": texts.spec }),
    agent_states: { architect: used(8_200, 2_100) },
    agent_outputs: { architect: { enrich: output("Specified the dark mode, one question is open") } },
  });
  const claimed = next(specified, {
    ...{ type: "PRE", trigger: "phase_start", outcome: null, ...at("implementing") },
    ...standing(specified, { enrich: "succeeded", ready: "skipped", implementing: "running" }),
  });
  const failed = next(claimed, {
    ...{ type: "POST", trigger: "phase_failure", outcome: "failed", duration_ms: 421_000 },
    ...standing(claimed, { enrich: "succeeded", ready: "skipped", implementing: "failed" }),
    issue_snapshot: { ...claimed.issue_snapshot, branch: "feature/issue-42", head_sha: "a".repeat(40) },
    agent_states: { ...claimed.agent_states, builder: used(61_400, 9_800) },
    agent_outputs: { ...claimed.agent_outputs, builder: { implementing: output("Wrote the theme") } },
    artifacts: artifacts({ "spec.md": texts.spec }),
    notes: { builder: anArtifact("notes/builder.md", texts.notes) },
    files_modified: [{ path: "src/theme.ts", status: "added", staged: true }],
    governance_results: {
      quality_gates: [
        aGateResult({
          ...{ status: "failed", summary: "npm test: exit code 1", phase: "implementing" },
          details: "`npm test` ended\n\n```text\n✘ charts follow the theme\n  expected #fff, got #000\n```",
        }),
        aGateResult({ name: "lint", summary: "npm run lint: exit code 0" }),
      ],
      ...{ compliance_checks: [], passed: false },
    },
    acceptance_criteria: { "follows the system": true, "charts are readable": false },
    error: {
      code: "gate_failed",
      message: "The gate tests failed.",
      hint: "Comment `/crunch` to try again.",
    },
  });
  const done = next(failed, {
    ...{ type: "POST", trigger: "phase_transition", outcome: "succeeded", duration_ms: 655_000 },
    ...{ ...at("implementing"), phase_version: 2 },
    ...standing(failed, {
      ...{ enrich: "succeeded", ready: "skipped" },
      implementing: { status: "succeeded", version: 2 },
    }),
    issue_snapshot: {
      ...failed.issue_snapshot,
      ...{ body: "It is too bright.\n\n- [ ] follow the system\n- [ ] a switch in the settings\n" },
      ...{ labels: ["state:implementing", "ui", "a11y"], assignees: ["octocat"], head_sha: "b".repeat(40) },
    },
    agent_states: { ...failed.agent_states, builder: used(118_900, 21_300) },
    agent_outputs: {
      ...failed.agent_outputs,
      builder: { implementing: output("Charts take their colours from the theme; added a switch") },
    },
    artifacts: artifacts({ "spec.md": texts.spec2, "screens/dark.svg": "<svg/>" }),
    notes: { builder: anArtifact("notes/builder.md", texts.notes2) },
    files_modified: [
      { path: "src/theme.ts", status: "added", staged: true },
      { path: "src/charts/palette.ts", status: "modified", staged: true },
      { path: "src/settings.ts", status: "modified", staged: true },
    ],
    governance_results: {
      quality_gates: [aGateResult(), aGateResult({ name: "lint", summary: "npm run lint: exit code 0" })],
      ...{ compliance_checks: [], passed: true },
    },
    acceptance_criteria: { "follows the system": true, "charts are readable": true },
    projections: { ...failed.projections, pull_request: 17, branch_head: "b".repeat(40) },
  });
  return { first, specified, claimed, failed, done };
}

export const contents = {
  notes: { builder: { before: texts.notes, after: texts.notes2 } },
  artifacts: { "spec.md": { before: texts.spec, after: texts.spec2 } },
};
