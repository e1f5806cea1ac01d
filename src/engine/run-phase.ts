import type { Checkpoint } from "../checkpoint/schema.js";
import { messageOf } from "../errors.js";
import type { AgentProgress, Issue, LiveAgent, Workspace } from "../ports.js";
import { asAgentLeft, changedSinceJudged } from "./agent-left.js";
import { agentWork, workspaceFor } from "./agent-work.js";
import { commitEnd } from "./end-of-phase.js";
import { evaluateGates, gatesAfter } from "./gates.js";
import { judge, type Produced } from "./judgement.js";
import { createMidwaySaver } from "./midway-saver.js";
import { outputsSeen } from "./outputs.js";
import type { Committed, Session } from "./session.js";
import { saveMidway, saveStopped } from "./unfinished.js";

/** Runs a claimed phase: agent, gates, and the one commit that makes what they produced count. */
export async function runPhase(session: Session, claim: Checkpoint, issue: Issue): Promise<Committed> {
  const name = claim.workflow_state.current_phase;
  const phase = session.plan.phases[name];
  if (!phase?.agent) throw new Error(`phase ${name} has no agent`);
  const agent = phase.agent.name;
  const began = session.clock.now().getTime();
  const workspace = await workspaceFor(session, claim, phase);
  const saver = createMidwaySaver(session, claim, phase, { workspace, agent });
  const onProgress = (progress: AgentProgress, live: LiveAgent) => {
    const fields = { event: "progress", issue: issue.number, phase: name, percent: progress.percent };
    session.log.info(`${name}: ${progress.message}`, fields);
    saver.onProgress(progress, live);
  };
  const result = await agentWork(session, claim, { issue, agent: phase.agent, workspace, onProgress });
  if (result.notes !== null) session.notes.set(agent, result.notes);
  let tip = await saver.settled();
  const left = asAgentLeft(workspace);
  const stop = () => saveStopped(session, tip, phase, { workspace: left, agent, result });
  if (session.signal.aborted) return stop();
  const judged = await judge(session, claim, phase, left, result);
  if (!judged.failure && session.plan.checkpoints.agentComplete) {
    const { notes, progress } = result;
    const details = { trigger: "agent_complete", workspace: left, agent, notes, progress, result } as const;
    const saved = await saveMidway(session, tip, phase, details);
    if (saved.status === "gave_way") return saved;
    tip = saved.checkpoint;
  }
  const verdict = judged.failure
    ? { ...judged, gates: [] }
    : await gated(session, claim, workspace, judged.produced);
  if (session.signal.aborted) return stop();
  const durationMs = Math.max(0, session.clock.now().getTime() - began);
  const { produced, gates, failure: agentFailure } = verdict;
  const ended = { phase, issue, workspace: left, agent, result, produced, agentFailure, gates, durationMs };
  const committed = await commitEnd(session, claim, tip, ended);
  if (committed.status === "stored" && agentFailure === null)
    await keep(session, workspace, committed.checkpoint);
  else await drop(session, workspace);
  return committed;
}

/** What the gates say, unless they can't have seen what was judged: then nothing of it counts. */
async function gated(session: Session, claim: Checkpoint, workspace: Workspace, produced: Produced) {
  const gates = await gatesOf(session, claim, workspace, produced);
  const folder = session.plan.layout.folder(claim.issue_number);
  const failure = gates.length === 0 ? null : await changedSinceJudged(workspace, produced, folder);
  if (failure) return { produced: { code: [], outputs: [] }, gates: [], failure };
  return { produced, gates, failure: null };
}

function gatesOf(session: Session, claim: Checkpoint, workspace: Workspace, produced: Produced) {
  const { plan, commands, signal, clock } = session;
  const name = claim.workflow_state.current_phase;
  const gates = gatesAfter(plan, name, claim.orchestrator_state.phases, produced.code.length > 0);
  const outputs = outputsSeen(claim, produced.outputs);
  const notes = new Map(session.notes);
  return evaluateGates(gates, { directory: workspace.directory, outputs, notes, commands, signal }, clock);
}

/** The next phase works in the same folder, which then holds just what was committed. */
async function keep(
  session: Session,
  workspace: Workspace,
  { issue_snapshot: { head_sha } }: Checkpoint,
): Promise<void> {
  try {
    await workspace.settle(head_sha ?? workspace.baseSha);
  } catch (error) {
    // The phase is committed: what its gates did to the folder must not undo that.
    session.log.warn(`the next phase gets a new folder: ${messageOf(error)}`);
    await drop(session, workspace);
  }
}

/** What failed work leaves in the folder must not look like part of the next phase's. */
async function drop(session: Session, workspace: Workspace): Promise<void> {
  await workspace.close();
  session.workspace = null;
}
