import { emptyRun, firstCheckpoint } from "../checkpoint/create.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { Issue } from "../ports.js";
import { stateLabel } from "../workflow/labels.js";
import type { Step } from "./decision.js";
import { withHandled } from "./events.js";
import { closingLease, leaseFor } from "./lease.js";
import { plannedWork } from "./planned-work.js";
import { type Committed, commit, commitNext, type Session } from "./session.js";
import { snapshotOf, snapshotOfRestart } from "./snapshot.js";
import { completedPhases, endPhase, withPhase } from "./standing.js";

/** What a step begins with. */
export interface StepStart {
  readonly latest: Checkpoint | null;
  readonly issue: Issue;
  readonly eventKey: string;
  readonly actor: string;
  /** Where the code branch was seen a moment ago, which saves looking again. */
  readonly branchSeen?: string | undefined;
  /** Within a session the text stays what it was when a person last had a say: anybody may edit an issue. */
  readonly isTextKept?: boolean;
}

/** The checkpoint that a step is made of, or, for a phase to run, the one that claims it. */
export async function beginStep(session: Session, step: Step, start: StepStart): Promise<Committed> {
  const { plan, maker } = session;
  const { latest } = start;
  const isRestart = step.kind === "run" && step.isRestart === true;
  const snapshot =
    latest && isRestart
      ? await snapshotOfRestart(session, latest, start.issue)
      : await snapshotOf(session, latest, start.issue, start);
  const fresh = () =>
    emptyRun({
      ...{ issue: start.issue.number, workflow: plan.workflow.name, phase: step.phase, phases: step.phases },
      ...{ snapshot, startedBy: start.actor, maker },
    });
  if (!latest) {
    const run = fresh();
    return commit(session, firstCheckpoint(run, changeFor(session, step, start, run, snapshot), maker));
  }
  const run = isRestart ? { ...fresh(), projections: projectionsOfRestart(latest, snapshot) } : latest;
  return commitNext(session, latest, { ...run, ...changeFor(session, step, start, run, snapshot) });
}

/** A new run keeps the comment, and the pull request as long as its branch is there. */
function projectionsOfRestart({ projections }: Checkpoint, snapshot: Checkpoint["issue_snapshot"]) {
  const pull = snapshot.branch === null ? null : projections.pull_request;
  return { comment_id: projections.comment_id, pull_request: pull, branch_head: null };
}

function changeFor(
  session: Session,
  step: Step,
  { latest, eventKey }: StepStart,
  run: Omit<Checkpoint, "checkpoint_id" | "parent_checkpoint_id">,
  snapshot: Checkpoint["issue_snapshot"],
) {
  const { workflow } = session.plan;
  const now = session.clock.now().toISOString();
  const before = step.phases[step.phase];
  const attempt = step.kind === "run" ? (before?.attempt ?? 0) + 1 : (before?.attempt ?? 0);
  // A first attempt is a new version of the phase; a further one after a crash is not.
  const version = (before?.version ?? 0) + (attempt <= 1 ? 1 : 0);
  const phases = phasesAfterStep(session, step, attempt, version);
  const heard = latest?.orchestrator_state.handled_events ?? [];
  const isRestart = step.kind === "run" && step.isRestart === true;
  return {
    // What belongs to one checkpoint alone is not taken over from the one before.
    ...{ duration_ms: 0, error: null, note: null, pause: null, partial_work: [], progress: [], metadata: {} },
    ...recordOf(step, session),
    phase_version: version,
    issue_snapshot: snapshot,
    workflow_state: {
      workflow: workflow.name,
      current_phase: step.phase,
      current_state_label: stateLabel(step.phase),
      phase_started_at: now,
      phase_attempt: Math.max(1, attempt),
    },
    orchestrator_state: {
      ...run.orchestrator_state,
      current_phase: step.phase,
      phases,
      completed_phases: completedPhases(workflow, phases),
      handled_events: withHandled(heard, eventKey),
    },
    ...(step.kind === "run" ? plannedWork(session, run, isRestart ? null : latest, step.phase, now) : {}),
    ...(latest?.error && !isRestart ? { metadata: { previous_error: latest.error.message } } : {}),
  };
}

function phasesAfterStep(session: Session, step: Step, attempt: number, version: number) {
  const { workflow } = session.plan;
  switch (step.kind) {
    case "run":
      return withPhase(step.phases, step.phase, { status: "running", attempt, version });
    case "pass":
      return endPhase(workflow, step.phases, step.phase, { status: "skipped", version });
    case "ask":
      return withPhase(step.phases, step.phase, { status: "waiting", version });
    case "approve":
      return endPhase(workflow, step.phases, step.phase, { status: "succeeded" });
    case "give_up":
      return withPhase(step.phases, step.phase, { status: "failed" });
  }
}

function recordOf(step: Step, session: Session) {
  const closing = closingLease(session);
  switch (step.kind) {
    case "run": {
      const phase = session.plan.phases[step.phase];
      const gatesMs = Object.values(session.plan.phases).flatMap(({ gates }) =>
        gates.map((gate) => gate.timeoutMs),
      );
      const workMs = (phase?.agent?.timeoutMs ?? 0) + gatesMs.reduce((sum, ms) => sum + ms, 0);
      return {
        type: "PRE",
        trigger: "phase_start",
        outcome: null,
        lease: leaseFor(session, workMs),
      } as const;
    }
    case "pass":
      return {
        type: "POST",
        trigger: "phase_transition",
        outcome: "skipped",
        lease: closing,
        note: step.reason,
      } as const;
    case "ask":
      return { type: "PRE", trigger: "before_human", outcome: null, lease: closing } as const;
    case "approve":
      return {
        type: "POST",
        trigger: "approval",
        outcome: "approved",
        lease: closing,
        note: `approved by @${step.by}`,
      } as const;
    case "give_up":
      return {
        type: "POST",
        trigger: "phase_failure",
        outcome: "failed",
        lease: closing,
        error: {
          code: "attempts_used_up",
          message: `The session died ${step.attempts} times while ${step.phase} was running.`,
          hint: "Look at the log of the runner, then comment `/crunch` to try again.",
        },
      } as const;
  }
}
