import { emptyRun, firstCheckpoint } from "../checkpoint/create.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { Issue } from "../ports.js";
import { knownStateLabels, stateLabel } from "../workflow/labels.js";
import type { Step } from "./decision.js";
import { withHandled } from "./events.js";
import { closingLease, leaseFor } from "./lease.js";
import { runPhase } from "./run-phase.js";
import { type Committed, commit, commitNext, type Session } from "./session.js";
import { completedPhases, endPhase, withPhase } from "./standing.js";

/** Carries out one step of a run: claims and runs a phase, or records that it is passed, asked, approved or given up. */
export async function takeStep(
  session: Session,
  step: Step,
  options: {
    readonly latest: Checkpoint | null;
    readonly issue: Issue;
    readonly eventKey: string;
    readonly actor: string;
  },
): Promise<Committed> {
  const begun = await begin(session, step, options);
  if (begun.status === "gave_way" || step.kind !== "run") return begun;
  const { checkpoint } = begun;
  const { issue_number: issue, workflow_state: state, checkpoint_id: id } = checkpoint;
  const fields = { event: "phase_started", issue, phase: step.phase, attempt: state.phase_attempt, id };
  session.log.info(`${step.phase} begins`, fields);
  if (isShown(session, checkpoint, options)) return runPhase(session, checkpoint, options.issue);
  const shown = await session.projector.project(checkpoint, { issue: options.issue, label: "set" });
  return runPhase(session, { ...checkpoint, projections: shown.projections }, shown.issue);
}

/** The end of the phase before has announced this one, unless it is a first, a further attempt or a jump. */
function isShown(
  session: Session,
  checkpoint: Checkpoint,
  { latest, issue }: { readonly latest: Checkpoint | null; readonly issue: Issue },
): boolean {
  const labels = knownStateLabels(session.plan.workflow, issue.labels);
  const isLabelRight = labels.length === 1 && labels[0] === checkpoint.workflow_state.current_state_label;
  return latest !== null && checkpoint.workflow_state.phase_attempt === 1 && isLabelRight;
}

async function begin(
  session: Session,
  step: Step,
  {
    latest,
    issue,
    eventKey,
    actor,
  }: { latest: Checkpoint | null; issue: Issue; eventKey: string; actor: string },
): Promise<Committed> {
  const { plan, maker } = session;
  const snapshot = await snapshotOf(session, latest, issue);
  const parent =
    latest ??
    emptyRun({
      issue: issue.number,
      workflow: plan.workflow.name,
      phase: step.phase,
      phases: step.phases,
      snapshot,
      startedBy: actor,
      maker,
    });
  const now = session.clock.now().toISOString();
  const before = step.phases[step.phase];
  const attempt = step.kind === "run" ? (before?.attempt ?? 0) + 1 : (before?.attempt ?? 0);
  // A first attempt is a new version of the phase; a further one after a crash is not.
  const version = (before?.version ?? 0) + (attempt <= 1 ? 1 : 0);
  const phases = phasesAfterStep(session, step, attempt, version);
  const change = {
    ...recordOf(step, session),
    phase_version: version,
    issue_snapshot: snapshot,
    workflow_state: {
      workflow: plan.workflow.name,
      current_phase: step.phase,
      current_state_label: stateLabel(step.phase),
      phase_started_at: now,
      phase_attempt: Math.max(1, attempt),
    },
    orchestrator_state: {
      ...parent.orchestrator_state,
      current_phase: step.phase,
      phases,
      completed_phases: completedPhases(plan.workflow, phases),
      handled_events: withHandled(parent.orchestrator_state.handled_events, eventKey),
    },
    ...(step.kind === "run" ? workPlanned(session, parent, latest, step.phase, now) : {}),
    ...(latest?.error ? { metadata: { previous_error: latest.error.message } } : {}),
  };
  if (latest) return commitNext(session, latest, change);
  return commit(session, firstCheckpoint(parent, change, maker));
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

function workPlanned(
  session: Session,
  parent: Pick<Checkpoint, "execution_graph" | "team_state">,
  latest: Checkpoint | null,
  phase: string,
  now: string,
) {
  const agent = session.plan.phases[phase]?.agent?.name ?? null;
  const node = {
    status: "running" as const,
    depends_on: [],
    agent,
    started_at: now,
    completed_at: null,
    result: null,
  };
  const unfinished = latest && isUnfinished(latest, phase) ? latest : null;
  const done = unfinished?.execution_graph.node_states[phase];
  return {
    execution_graph: {
      ...parent.execution_graph,
      completed_batches: [],
      current_batch: 1,
      node_states: { [phase]: done?.status === "complete" ? done : node },
    },
    team_state: {
      ...parent.team_state,
      members:
        agent === null
          ? []
          : [{ agent, role: phase, status: "active", tasks_completed: 0, tasks_pending: 1 }],
    },
    files_modified: [],
    partial_work: unfinished?.partial_work ?? [],
    progress: unfinished?.progress ?? [],
  };
}

/** Whether the phase was left in the middle, by a crash, a stop or its time limit, so that its work can be taken up. */
function isUnfinished(latest: Checkpoint, phase: string): boolean {
  if (latest.workflow_state.current_phase !== phase) return false;
  return latest.type === "PRE" || latest.error?.code === "agent_timed_out";
}

async function snapshotOf(
  session: Session,
  latest: Checkpoint | null,
  issue: Issue,
): Promise<Checkpoint["issue_snapshot"]> {
  const { code, plan } = session;
  const before = latest?.issue_snapshot ?? null;
  const text = {
    title: issue.title,
    body: issue.body,
    labels: [...issue.labels],
    assignees: [...issue.assignees],
  };
  // Once there is a branch the base no longer matters: what people push to the branch is worked on.
  if (before?.head_sha) {
    const head = await code.head(plan.branch);
    return { ...before, ...text, head_sha: head?.sha ?? before.head_sha };
  }
  if (before) return { ...before, ...text };
  const base = await code.head(code.defaultBranch);
  if (!base) throw new Error(`the default branch ${code.defaultBranch} has no commit`);
  return { ...text, branch: null, head_sha: null, base_branch: code.defaultBranch, base_sha: base.sha };
}
