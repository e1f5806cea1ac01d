import type { CheckpointChange } from "../checkpoint/create.js";
import { issueFolder } from "../checkpoint/layout.js";
import type { Checkpoint, GateResult } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { AgentResult, FileChange, Issue, Workspace } from "../ports.js";
import { agentContext } from "./agent-context.js";
import { evaluateGates, gatesAfter, mergeResults } from "./gates.js";
import { closingLease } from "./lease.js";
import { artifactsOf, outputsSeen } from "./outputs.js";
import type { PhasePlan } from "./plan.js";
import { sortChanges } from "./publish-policy.js";
import { type Committed, commitNext, type Session } from "./session.js";
import { completedPhases, endPhase, withPhase } from "./standing.js";

interface Produced {
  readonly code: readonly FileChange[];
  readonly outputs: readonly FileChange[];
}

type Failure = NonNullable<Checkpoint["error"]>;

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

async function judge(
  session: Session,
  claim: Checkpoint,
  phase: PhasePlan,
  workspace: Workspace,
  result: AgentResult,
) {
  const nothing: Produced = { code: [], outputs: [] };
  const ended = agentFailure(result);
  if (ended) return { produced: nothing, failure: ended };
  let changes: readonly FileChange[];
  try {
    changes = await workspace.changes();
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    return { produced: nothing, failure: { code: error.code, message: error.message, hint: error.hint } };
  }
  const sorted = sortChanges(changes, {
    issue: claim.issue_number,
    writes: phase.writes,
    protectedPaths: session.plan.protectedPaths,
  });
  if (sorted.status === "refused") {
    const listed = sorted.paths.slice(0, 10).map((path) => `\`${path.replace(/[`\r\n]/g, "?")}\``);
    const failure: Failure = {
      code: "path_not_allowed",
      message: `The agent changed what it must not: ${listed.join(", ")}. Nothing of this attempt was kept.`,
      hint: "Allow the path with `writes` or `protected_paths` in .github/crunch.yml, or comment `/crunch` to try again.",
    };
    return { produced: nothing, failure };
  }
  const clean = (file: FileChange) => ({ ...file, content: redactedContent(file.content, session.redact) });
  return {
    produced: { code: sorted.code.map(clean), outputs: sorted.outputs.map(clean) },
    failure: unmet(result),
  };
}

/** Only text can be searched for secrets; a binary file stays as it is. */
function redactedContent(content: Buffer | null, redact: (text: string) => string): Buffer | null {
  if (content === null || content.includes(0)) return content;
  const text = content.toString("utf8");
  const clean = redact(text);
  return clean === text ? content : Buffer.from(clean);
}

function agentFailure(result: AgentResult): Failure | null {
  if (result.status === "succeeded") return null;
  const hint = "Comment `/crunch` to try again; the notes so far are kept for the next attempt.";
  return { code: `agent_${result.status}`, message: result.summary, hint };
}

function unmet(result: AgentResult): Failure | null {
  const names = Object.entries(result.acceptanceCriteria)
    .filter(([, isMet]) => !isMet)
    .map(([name]) => name);
  if (names.length === 0) return null;
  const message = `The agent says it is complete, but these acceptance criteria are not met: ${names.join(", ")}.`;
  return { code: "acceptance_unmet", message, hint: "Comment `/crunch` to let it go on." };
}

function gateFailure(failed: readonly { readonly name: string; readonly summary: string }[]): Failure | null {
  if (failed.length === 0) return null;
  const message = `Not passed: ${failed.map((gate) => `${gate.name} (${gate.summary})`).join("; ")}`;
  return { code: "gate_failed", message, hint: "Comment `/crunch` to let the agent try again from here." };
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

function agentRecord(
  session: Session,
  claim: Checkpoint,
  agent: string,
  result: AgentResult,
  produced: Produced,
) {
  const now = session.clock.now().toISOString();
  const name = claim.workflow_state.current_phase;
  const succeeded = result.status === "succeeded";
  const before = claim.agent_states[agent]?.token_usage ?? { input: 0, output: 0 };
  const main = result.outputs[0]?.path ?? produced.outputs[0]?.path ?? null;
  const node = claim.execution_graph.node_states[name];
  return {
    agent_states: {
      ...claim.agent_states,
      [agent]: {
        status: succeeded ? ("complete" as const) : ("failed" as const),
        token_usage: {
          input: before.input + result.tokenUsage.input,
          output: before.output + result.tokenUsage.output,
        },
        tool_invocations: [],
        summary: result.summary,
      },
    },
    agent_outputs: {
      ...claim.agent_outputs,
      [agent]: {
        ...claim.agent_outputs[agent],
        [name]: {
          completed_at: now,
          output_summary: result.summary,
          output_location:
            main === null
              ? null
              : `${issueFolder(claim.issue_number)}/${main.replace(/^\.claude\/crunch\/\d+\//, "")}`,
        },
      },
    },
    artifacts: artifactsOf(claim.artifacts, produced.outputs),
    files_modified: [...produced.code].map(({ path, status }) => ({ path, status, staged: true })),
    execution_graph: {
      ...claim.execution_graph,
      completed_batches: succeeded ? [1] : [],
      node_states: node
        ? {
            ...claim.execution_graph.node_states,
            [name]: {
              ...node,
              status: succeeded ? ("complete" as const) : ("failed" as const),
              completed_at: now,
              result: result.summary,
            },
          }
        : claim.execution_graph.node_states,
    },
    metadata: succeeded ? {} : { output_tail: result.outputTail.slice(-4000) },
  };
}

async function notesOf(session: Session, claim: Checkpoint, agent: string): Promise<string | null> {
  if (claim.parent_checkpoint_id === null || !claim.agent_states[agent]) return null;
  const notes = await session.store.readFile(claim.issue_number, `notes/${agent}.md`);
  return notes?.toString("utf8") ?? null;
}

function notesFile(agent: string, notes: string | null): FileChange[] {
  if (notes === null || notes.trim() === "") return [];
  return [{ path: `notes/${agent}.md`, mode: "100644", content: Buffer.from(notes), status: "modified" }];
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
