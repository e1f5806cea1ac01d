import type { Checkpoint } from "../checkpoint/schema.js";
import type { AgentProgress, AgentResult, Issue, LiveAgent, Workspace } from "../ports.js";
import { agentContext } from "./agent-context.js";
import { readArtifact } from "./artifacts.js";
import { restorePartialWork } from "./partial-work.js";
import type { PhasePlan } from "./plan.js";
import type { Session } from "./session.js";

type AgentPlan = NonNullable<PhasePlan["agent"]>;

/** Runs a phase's agent; one that is complete by the checkpoint is not run again: its result is taken from there. */
export async function agentWork(
  session: Session,
  claim: Checkpoint,
  options: {
    readonly issue: Issue;
    readonly agent: AgentPlan;
    readonly workspace: Workspace;
    readonly onProgress: (progress: AgentProgress, live: LiveAgent) => void;
  },
): Promise<AgentResult> {
  const { issue, agent, workspace } = options;
  const name = claim.workflow_state.current_phase;
  const recorded = recordedResult(claim, agent.name);
  if (recorded) {
    session.log.info(`${name}: the agent had finished before`, {
      event: "kept",
      issue: issue.number,
      phase: name,
    });
    return recorded;
  }
  return agent.runner.run({
    context: agentContext(session, claim, issue, workspace, await notesFor(session, claim, agent.name)),
    timeoutMs: agent.timeoutMs,
    signal: session.signal,
    onProgress: options.onProgress,
  });
}

/** A folder with the files of the checkpoint: code, earlier outputs, and what a stopped attempt had done so far. */
export async function workspaceFor(
  session: Session,
  claim: Checkpoint,
  phase: PhasePlan,
): Promise<Workspace> {
  const { issue_snapshot: snapshot, issue_number: issue } = claim;
  const sha = snapshot.head_sha ?? snapshot.base_sha;
  if (session.workspace?.baseSha === sha) return session.workspace;
  await session.workspace?.close();
  const outputFolder = session.plan.layout.folder(issue);
  const workspace = await session.workspaces.open(sha, { outputFolder });
  session.workspace = workspace;
  const files = [];
  for (const artifact of Object.values(claim.artifacts)) {
    const content = await readArtifact(session.store, issue, artifact);
    files.push({ path: `${outputFolder}/${artifact.path}`, content });
  }
  if (files.length > 0) await workspace.seed(files);
  await restorePartialWork(session, claim, phase, workspace);
  return workspace;
}

function recordedResult(claim: Checkpoint, agent: string): AgentResult | null {
  const name = claim.workflow_state.current_phase;
  const node = claim.execution_graph.node_states[name];
  if (node?.status !== "complete") return null;
  const location = claim.agent_outputs[agent]?.[name]?.output_location ?? null;
  return {
    status: "succeeded",
    exitCode: 0,
    summary: node.result ?? "",
    outputs: location === null ? [] : [{ name, path: location, summary: "" }],
    // Counted when it ran.
    tokenUsage: { input: 0, output: 0 },
    acceptanceCriteria: claim.acceptance_criteria,
    notes: null,
    progress: claim.progress,
    outputTail: "",
    durationMs: 0,
  };
}

async function notesFor(session: Session, claim: Checkpoint, agent: string): Promise<string | null> {
  const known = session.notes.get(agent);
  if (known !== undefined) return known;
  const notes = Object.hasOwn(claim.notes, agent) ? claim.notes[agent] : undefined;
  return notes ? (await readArtifact(session.store, claim.issue_number, notes)).toString("utf8") : null;
}
