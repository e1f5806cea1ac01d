import { type Change, changed, type SetChange, setChange } from "./changes.js";
import {
  type ArtifactDiff,
  artifactDiffs,
  type Contents,
  type FileDiff,
  fileDiffs,
  type NoteDiff,
  noteDiffs,
} from "./diff-files.js";
import { type GateDiff, gateDiffs } from "./diff-gates.js";
import { type Amount, costDiff, type UsageDiff, usageDiff } from "./diff-usage.js";
import {
  type CriterionDiff,
  criterionDiffs,
  type OutputDiff,
  outputDiffs,
  type PhaseDiff,
  phaseDiffs,
  type TaskDiff,
  taskDiffs,
} from "./diff-work.js";
import type { Checkpoint } from "./schema.js";
import { type TextDiff, textDiff } from "./text-diff.js";

/** What differs between two checkpoints, subject by subject. What does not differ is null or empty. */
export interface DiffParts {
  /** They belong to two runs: one was started afresh. */
  readonly run: Change<string> | null;
  readonly phase: Change<string> | null;
  readonly attempt: Change<number> | null;
  readonly version: Change<number> | null;
  readonly outcome: Change<Checkpoint["outcome"]> | null;
  readonly durationMs: Change<number> | null;
  readonly error: Change<Checkpoint["error"]> | null;
  readonly title: Change<string> | null;
  readonly body: TextDiff | null;
  readonly assignees: SetChange | null;
  readonly labels: SetChange | null;
  readonly phases: readonly PhaseDiff[];
  readonly tasks: readonly TaskDiff[];
  readonly outputs: readonly OutputDiff[];
  readonly criteria: readonly CriterionDiff[];
  readonly gates: readonly GateDiff[];
  readonly artifacts: readonly ArtifactDiff[];
  readonly notes: readonly NoteDiff[];
  readonly files: readonly FileDiff[];
  readonly headSha: Change<string | null> | null;
  readonly pullRequest: Change<number | null> | null;
  readonly tokens: UsageDiff | null;
  readonly costUsd: Amount | null;
  readonly conflicts: SetChange | null;
}

export function diffParts(old: Checkpoint, now: Checkpoint, notes: Contents, artifacts: Contents): DiffParts {
  const [then, since] = [old.issue_snapshot, now.issue_snapshot];
  return {
    run: changed(old.orchestrator_state.run_id, now.orchestrator_state.run_id),
    phase: changed(old.workflow_state.current_phase, now.workflow_state.current_phase),
    attempt: changed(old.workflow_state.phase_attempt, now.workflow_state.phase_attempt),
    version: changed(old.phase_version, now.phase_version),
    outcome: changed(old.outcome, now.outcome),
    durationMs: changed(old.duration_ms, now.duration_ms),
    error:
      old.error?.code === now.error?.code && old.error?.message === now.error?.message
        ? null
        : { before: old.error, after: now.error },
    title: changed(then.title, since.title),
    body: textDiff(then.body, since.body),
    assignees: ifAny(setChange(then.assignees, since.assignees)),
    labels: ifAny(setChange(then.labels, since.labels)),
    phases: phaseDiffs(old, now),
    tasks: taskDiffs(old, now),
    outputs: outputDiffs(old, now),
    criteria: criterionDiffs(old, now),
    gates: gateDiffs(old, now),
    artifacts: artifactDiffs(old, now, artifacts),
    notes: noteDiffs(old, now, notes),
    files: fileDiffs(old, now),
    headSha: changed(then.head_sha, since.head_sha),
    pullRequest: changed(old.projections.pull_request, now.projections.pull_request),
    tokens: usageDiff(old, now),
    costUsd: costDiff(old, now),
    conflicts: ifAny(setChange(old.acp_state.conflicts_in_progress, now.acp_state.conflicts_in_progress)),
  };
}

function ifAny(change: SetChange): SetChange | null {
  return change.added.length + change.removed.length === 0 ? null : change;
}
