import type { CheckpointChange } from "../checkpoint/create.js";
import type { Checkpoint, GateResult } from "../checkpoint/schema.js";
import type { AgentProgress, FileChange, Issue, LiveAgent, Workspace } from "../ports.js";
import { agentRecord, notesRecord } from "./agent-record.js";
import { agentWork, workspaceFor } from "./agent-work.js";
import { asArtifacts } from "./artifacts.js";
import { evaluateGates, gatesAfter, mergeResults } from "./gates.js";
import { type Failure, gateFailure, judge, type Produced } from "./judgement.js";
import { closingLease } from "./lease.js";
import { createMidwaySaver } from "./midway-saver.js";
import { outputsSeen } from "./outputs.js";
import { capturePartialWork } from "./partial-work.js";
import { type Committed, commitNext, type Session } from "./session.js";
import { completedPhases, endPhase, withPhase } from "./standing.js";
import { progressKeptOf, saveMidway, saveStopped } from "./unfinished.js";

/** Runs a claimed phase: agent, gates, and the one commit that makes what they produced count. */
export async function runPhase(session: Session, claim: Checkpoint, issue: Issue): Promise<Committed> {
  const name = claim.workflow_state.current_phase;
  const phase = session.plan.phases[name];
  if (!phase?.agent) throw new Error(`phase ${name} has no agent`);
  const agent = phase.agent.name;
  const began = session.clock.now().getTime();
  const workspace = await workspaceFor(session, claim);
  const saver = createMidwaySaver(session, claim, phase, { workspace, agent });
  const onProgress = (progress: AgentProgress, live: LiveAgent) => {
    const fields = { event: "progress", issue: issue.number, phase: name, percent: progress.percent };
    session.log.info(`${name}: ${progress.message}`, fields);
    saver.onProgress(progress, live);
  };
  const result = await agentWork(session, claim, { issue, agent: phase.agent, workspace, onProgress });
  if (result.notes !== null) session.notes.set(agent, result.notes);
  let tip = await saver.settled();
  const stop = () => saveStopped(session, tip, phase, { workspace, agent, result });
  if (session.signal.aborted) return stop();
  const { produced, failure: agentFailure } = await judge(session, claim, phase, workspace, result);
  if (!agentFailure && session.plan.checkpoints.agentComplete) {
    const { notes, progress } = result;
    const saved = await saveMidway(session, tip, phase, {
      ...{ trigger: "agent_complete", workspace, agent, notes, progress, result },
    });
    if (saved.status === "gave_way") return saved;
    tip = saved.checkpoint;
  }
  const gates = agentFailure ? [] : await gatesOf(session, claim, workspace, produced);
  if (session.signal.aborted) return stop();
  const failure = agentFailure ?? gateFailure(gates.filter((gate) => gate.status === "failed"));
  const head = await publishable(session, claim, issue, produced.code, name);
  // What failed work left is kept beside the checkpoint, for people and, after a time limit, for the next attempt.
  // Where the agent wrote what it must not, nothing is: the rest may be part of the same attempt to break out.
  const isKept = agentFailure !== null && agentFailure.code !== "path_not_allowed";
  const partial = isKept ? await capturePartialWork(session, claim, phase, workspace) : null;
  const notes = notesRecord(tip, agent, result.notes);
  const committed = await commitNext(
    session,
    tip,
    {
      ...outcomeOf(session, claim, failure),
      duration_ms: Math.max(0, session.clock.now().getTime() - began),
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
    },
    {
      files: [
        ...produced.outputs,
        ...notes.files,
        ...asArtifacts([...produced.outputs, ...notes.files, ...(partial?.files ?? [])]),
      ],
      codeCommit: head,
    },
  );
  logEnd(session, claim, gates, failure, session.clock.now().getTime() - began);
  await keepOrDrop(session, workspace, failure, head);
  return committed;
}

function gatesOf(session: Session, claim: Checkpoint, workspace: Workspace, produced: Produced) {
  const { plan, commands, signal, clock } = session;
  const name = claim.workflow_state.current_phase;
  const gates = gatesAfter(plan, name, claim.orchestrator_state.phases, produced.code.length > 0);
  const outputs = outputsSeen(claim, produced.outputs);
  return evaluateGates(gates, { directory: workspace.directory, outputs, commands, signal }, clock);
}

/** What failed work leaves in the workspace must not look like part of the next phase's. */
async function keepOrDrop(
  session: Session,
  workspace: Workspace,
  failure: Failure | null,
  head: string | null,
) {
  if (failure === null || head !== null) return workspace.settle(head ?? workspace.baseSha);
  await workspace.close();
  session.workspace = null;
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
async function publishable(
  session: Session,
  claim: Checkpoint,
  issue: Issue,
  code: readonly FileChange[],
  phase: string,
) {
  const { issue_snapshot: snapshot } = claim;
  if (code.length === 0) return snapshot.head_sha;
  const parent = await session.code.commit(snapshot.head_sha ?? snapshot.base_sha);
  const commit = await session.code.prepareCommit({
    parent,
    changes: code,
    message: `${phase}: ${issue.title.split("\n")[0]?.slice(0, 60)} (#${issue.number})`,
  });
  return commit.sha;
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
