import type { CheckpointChange } from "../checkpoint/create.js";
import { issueFolder } from "../checkpoint/layout.js";
import type { Checkpoint, GateResult } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { FileChange, Issue, Workspace } from "../ports.js";
import { agentContext } from "./agent-context.js";
import { agentRecord, notesFile } from "./agent-record.js";
import { evaluateGates, gatesAfter, mergeResults } from "./gates.js";
import { type Failure, gateFailure, judge } from "./judgement.js";
import { closingLease } from "./lease.js";
import { outputsSeen } from "./outputs.js";
import { type Committed, commitNext, type Session } from "./session.js";
import { completedPhases, endPhase, withPhase } from "./standing.js";

/** Runs a claimed phase: agent, gates, and the one commit that makes what they produced count. */
export async function runPhase(session: Session, claim: Checkpoint, issue: Issue): Promise<Committed> {
  const name = claim.workflow_state.current_phase;
  const phase = session.plan.phases[name];
  if (!phase?.agent) throw new Error(`phase ${name} has no agent`);
  const began = session.clock.now().getTime();
  const workspace = await workspaceFor(session, claim);
  const result = await phase.agent.runner.run({
    context: agentContext(session, claim, issue, workspace, await notesOf(session, claim, phase.agent.name)),
    timeoutMs: phase.agent.timeoutMs,
    signal: session.signal,
    onProgress: ({ message, percent }) => {
      const fields = { event: "progress", issue: issue.number, phase: name, percent };
      session.log.info(`${name}: ${message}`, fields);
    },
  });
  if (session.signal.aborted) throw interrupted();
  const { produced, failure: agentFailure } = await judge(session, claim, phase, workspace, result);
  const known = outputsSeen(claim, produced.outputs);
  const gates = agentFailure
    ? []
    : await evaluateGates(
        gatesAfter(session.plan, name, claim.orchestrator_state.phases, produced.code.length > 0),
        {
          directory: workspace.directory,
          outputs: known,
          commands: session.commands,
          signal: session.signal,
        },
        session.clock,
      );
  if (session.signal.aborted) throw interrupted();
  const failure = agentFailure ?? gateFailure(gates.filter((gate) => gate.status === "failed"));
  const head = await publishable(session, claim, issue, produced.code, name);
  const committed = await commitNext(
    session,
    claim,
    {
      ...outcomeOf(session, claim, failure),
      duration_ms: Math.max(0, session.clock.now().getTime() - began),
      issue_snapshot: head
        ? { ...claim.issue_snapshot, branch: session.plan.branch, head_sha: head }
        : claim.issue_snapshot,
      ...agentRecord(session, claim, phase.agent.name, result, produced),
      governance_results: {
        quality_gates: mergeResults(claim.governance_results.quality_gates, gates),
        compliance_checks: [],
        passed: failure === null,
      },
      acceptance_criteria: { ...result.acceptanceCriteria },
      error: failure,
    },
    { files: [...produced.outputs, ...notesFile(phase.agent.name, result.notes)], codeCommit: head },
  );
  if (result.notes !== null) session.notes.set(phase.agent.name, result.notes);
  logEnd(session, claim, gates, failure, session.clock.now().getTime() - began);
  await keepOrDrop(session, workspace, failure, head);
  return committed;
}

async function workspaceFor(session: Session, claim: Checkpoint): Promise<Workspace> {
  const { issue_snapshot: snapshot, issue_number: issue } = claim;
  const sha = snapshot.head_sha ?? snapshot.base_sha;
  if (session.workspace?.baseSha === sha) return session.workspace;
  await session.workspace?.close();
  session.workspace = await session.workspaces.open(sha);
  const files = [];
  for (const artifact of Object.values(claim.artifacts)) {
    const content = await session.store.readFile(issue, artifact.path);
    if (content) files.push({ path: `${issueFolder(issue)}/${artifact.path}`, content });
  }
  if (files.length > 0) await session.workspace.seed(files);
  return session.workspace;
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

async function notesOf(session: Session, claim: Checkpoint, agent: string): Promise<string | null> {
  if (claim.parent_checkpoint_id === null || !claim.agent_states[agent]) return null;
  const known = session.notes.get(agent);
  if (known !== undefined) return known;
  const notes = await session.store.readFile(claim.issue_number, `notes/${agent}.md`);
  return notes?.toString("utf8") ?? null;
}

function interrupted(): CrunchError {
  return new CrunchError({
    code: "interrupted",
    message: "The session was stopped while an agent was working.",
    hint: "The next start runs the phase again from its last checkpoint.",
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
