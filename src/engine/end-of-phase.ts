import type { CheckpointChange } from "../checkpoint/create.js";
import type { Checkpoint, GateResult } from "../checkpoint/schema.js";
import { inert, shortened } from "../markdown.js";
import type { AgentResult, FileChange, Issue, Workspace } from "../ports.js";
import { agentRecord, notesRecord } from "./agent-record.js";
import { asArtifacts } from "./artifacts.js";
import { mergeResults } from "./gates.js";
import { type Failure, gateFailure, type Produced } from "./judgement.js";
import { keepTrying } from "./keep-trying.js";
import { closingLease } from "./lease.js";
import { capturePartialWork } from "./partial-work.js";
import type { PhasePlan } from "./plan.js";
import { type Committed, commitNext, type Session } from "./session.js";
import { completedPhases, endPhase, withPhase } from "./standing.js";
import { progressKeptOf } from "./unfinished.js";
import { visibleText } from "./visible-text.js";

/** Everything that has come of a phase by its end. */
export interface Ended {
  readonly phase: PhasePlan;
  readonly issue: Issue;
  readonly workspace: Workspace;
  readonly agent: string;
  readonly result: AgentResult;
  readonly produced: Produced;
  /** Why nothing of the agent's work counts; null when it does. */
  readonly agentFailure: Failure | null;
  readonly gates: readonly GateResult[];
  readonly durationMs: number;
}

/** The one commit that makes what a phase produced count, or that says why it does not. */
export async function commitEnd(
  session: Session,
  claim: Checkpoint,
  tip: Checkpoint,
  ended: Ended,
): Promise<Committed> {
  const { agent, result, produced, gates } = ended;
  const failure = ended.agentFailure ?? gateFailure(gates.filter((gate) => gate.status === "failed"));
  const head = await publishable(session, claim, ended.issue, produced.code);
  const partial = await unfinishedWork(session, claim, ended);
  const notes = notesRecord(tip, agent, result.notes);
  const change = {
    ...outcomeOf(session, claim, failure),
    duration_ms: ended.durationMs,
    issue_snapshot: head
      ? { ...claim.issue_snapshot, branch: session.plan.branch, head_sha: head }
      : claim.issue_snapshot,
    ...agentRecord(session, claim, agent, result, produced),
    governance_results: {
      quality_gates: mergeResults(claim.governance_results.quality_gates, gates),
      compliance_checks: [],
      passed: failure === null,
    },
    acceptance_criteria: { ...claim.acceptance_criteria, ...result.acceptanceCriteria },
    notes: notes.notes,
    partial_work: [...(partial?.partial_work ?? [])],
    progress: progressKeptOf(result.progress),
    error: failure,
  };
  const live = [...produced.outputs, ...notes.files];
  const files = [...live, ...asArtifacts([...live, ...(partial?.files ?? [])])];
  const committed = await commitNext(session, tip, change, { files, codeCommit: head });
  logEnd(session, claim, gates, failure, ended.durationMs);
  return committed;
}

/**
 * What failed work left is kept beside the checkpoint, for people and, after a time limit, for the next attempt.
 * Where the agent wrote what it must not, nothing is: the rest may be part of the same attempt to break out.
 */
async function unfinishedWork(
  session: Session,
  claim: Checkpoint,
  { agentFailure, phase, workspace }: Ended,
) {
  const isKept = agentFailure !== null && agentFailure.code !== "path_not_allowed";
  return isKept ? capturePartialWork(session, claim, phase, workspace) : null;
}

function outcomeOf(session: Session, claim: Checkpoint, failure: Failure | null): CheckpointChange {
  const { plan } = session;
  const { orchestrator_state: run, workflow_state: state } = claim;
  const name = state.current_phase;
  const phases = failure
    ? withPhase(run.phases, name, { status: "failed" })
    : endPhase(plan.workflow, run.phases, name, { status: "succeeded" });
  return {
    type: "POST",
    trigger: failure ? "phase_failure" : "phase_transition",
    outcome: failure ? "failed" : "succeeded",
    lease: closingLease(session),
    orchestrator_state: { ...run, phases, completed_phases: completedPhases(plan.workflow, phases) },
  };
}

/** The agent's code as a commit that nothing shows yet; null when the branch stays as it is. */
async function publishable(session: Session, claim: Checkpoint, issue: Issue, code: readonly FileChange[]) {
  const { issue_snapshot: snapshot, workflow_state: state } = claim;
  if (code.length === 0) return snapshot.head_sha;
  // GitHub reads commit messages too: a title that says "Fixes #1" must not close that.
  const title = inert(shortened(visibleText(issue.title.split(/[\r\n]/)[0] ?? ""), 60));
  const message = `${state.current_phase}: ${title} (#${issue.number})`;
  const until = claim.lease?.expires_at ?? null;
  // A commit that nothing points to harms nobody, so it may be made twice.
  return keepTrying(session, "keeping the agent's code", until, async () => {
    const parent = await session.code.commit(snapshot.head_sha ?? snapshot.base_sha);
    return (await session.code.prepareCommit({ parent, changes: code, message })).sha;
  });
}

function logEnd(
  { log }: Session,
  claim: Checkpoint,
  gates: readonly GateResult[],
  failure: Failure | null,
  durationMs: number,
): void {
  const about = { issue: claim.issue_number, phase: claim.workflow_state.current_phase };
  for (const { name, status, summary } of gates) {
    log.info(`gate ${name} ${status}: ${summary}`, { event: "gate", ...about, gate: name, status });
  }
  const outcome = failure === null ? "succeeded" : "failed";
  const message = `${about.phase} ${outcome}${failure ? `: ${failure.message}` : ""}`;
  log.info(message, { event: "phase_ended", ...about, outcome, duration_ms: durationMs });
}
