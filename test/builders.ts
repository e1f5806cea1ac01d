import {
  type CheckpointChange,
  emptyRun,
  firstCheckpoint,
  type Maker,
  nextCheckpoint,
} from "../src/checkpoint/create.js";
import type { Checkpoint, GateResult, Lease, PhaseState, PhaseStatus } from "../src/checkpoint/schema.js";
import { pendingPhases } from "../src/engine/standing.js";
import type { FileChange, Issue } from "../src/ports.js";
import { presets } from "../src/workflow/presets/index.js";
import { createWorkflow, type Workflow } from "../src/workflow/workflow.js";

export const now = new Date("2025-01-14T10:00:00.000Z");
export const clock = { now: () => now };

/** The default workflow, where the specification needs no approval, and the one where it does. */
const crunch = (approval: "none" | "required") =>
  createWorkflow(presets.crunch({ approval, projectType: null, include: [] }));
export const unattended: Workflow = crunch("none");
export const approved: Workflow = crunch("required");

/** Makes the same checkpoints every time: a clock that stands still, and ids that count. */
export function aMaker(): Maker {
  let made = 0;
  return {
    now: clock.now,
    randomHex: () => (++made).toString(16).padStart(4, "0").padEnd(32, "0"),
    sessionId: "session-1",
  };
}

export function anIssue(changes: Partial<Issue> = {}): Issue {
  return {
    number: 42,
    title: "Add a dark mode",
    body: "It is too bright.",
    labels: ["bug"],
    assignees: [],
    isOpen: true,
    url: "https://github.test/octo/app/issues/42",
    ...changes,
  };
}

export type Statuses = Readonly<Record<string, PhaseStatus | Partial<PhaseState>>>;

/** The phases of a run: as named, and all others pending. */
export function phasesWith(statuses: Statuses, workflow: Workflow = unattended): Record<string, PhaseState> {
  const phases: Record<string, PhaseState> = { ...pendingPhases(workflow) };
  const fresh: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
  for (const [name, state] of Object.entries(statuses)) {
    phases[name] = {
      ...fresh,
      attempt: 1,
      version: 1,
      ...(typeof state === "string" ? { status: state } : state),
    };
  }
  return phases;
}

/** The latest checkpoint of a run that has come as far as `phases` say. */
export function aCheckpoint({
  phases = {},
  workflow = unattended,
  handled = [],
  ...change
}: Partial<CheckpointChange> & {
  readonly phases?: Statuses;
  readonly workflow?: Workflow;
  readonly handled?: readonly string[];
} = {}): Checkpoint {
  const maker = aMaker();
  const { number, title, body, labels, assignees } = anIssue();
  const snapshot = {
    ...{ title, body, labels: [...labels], assignees: [...assignees] },
    ...{ branch: null, head_sha: null, base_branch: "main", base_sha: "0".repeat(40) },
  };
  const run = emptyRun({
    issue: number,
    workflow: workflow.name,
    phase: workflow.first,
    phases: phasesWith(phases, workflow),
    snapshot,
    startedBy: "octocat",
    maker,
  });
  const first = firstCheckpoint(run, { type: "PRE", trigger: "phase_start", outcome: null }, maker);
  const orchestrator_state = { ...run.orchestrator_state, handled_events: [...handled] };
  const transition = { type: "POST", trigger: "phase_transition", outcome: "succeeded" } as const;
  return nextCheckpoint(first, { ...transition, orchestrator_state, ...change }, maker);
}

export function aLease(changes: Partial<Lease> = {}): Lease {
  return {
    session_id: "session-1",
    holder: { kind: "actions", run_id: 7, run_attempt: 1 },
    claimed_at: now.toISOString(),
    expires_at: new Date(now.getTime() + 60_000).toISOString(),
    ...changes,
  };
}

export function aGateResult(changes: Partial<GateResult> = {}): GateResult {
  return {
    ...{ name: "tests", type: "command", phase: "implementing", status: "passed" },
    ...{ summary: "npm test: exit code 0", details: "It printed nothing.", duration_ms: 5 },
    ...changes,
  };
}

export function aFile(path: string, changes: Partial<FileChange> = {}): FileChange {
  return { path, mode: "100644", content: Buffer.from("text"), status: "added", ...changes };
}
