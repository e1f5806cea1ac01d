import type { CheckpointChange } from "../checkpoint/create.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { AgentProgress, AgentResult, Workspace } from "../ports.js";
import { agentRecord, notesRecord } from "./agent-record.js";
import { asArtifacts } from "./artifacts.js";
import { capturePartialWork } from "./partial-work.js";
import type { PhasePlan } from "./plan.js";
import { type Committed, commitNext, type Session } from "./session.js";
import { withPhase } from "./standing.js";

const progressKept = 20;

export function progressKeptOf(progress: readonly AgentProgress[]): Checkpoint["progress"] {
  return progress.slice(-progressKept).map((line) => ({ ...line }));
}

/** Saves a phase in the middle: notes, progress and the files so far. The phase goes on, and keeps its lease. */
export async function saveMidway(
  session: Session,
  claim: Checkpoint,
  phase: PhasePlan,
  options: {
    readonly trigger: "every_n_events" | "agent_complete";
    readonly workspace: Workspace;
    readonly agent: string;
    readonly notes: string | null;
    readonly progress: readonly AgentProgress[];
    /** Given once the agent has ended: it is not run again from here, unless some of its work could not be saved. */
    readonly result: AgentResult | null;
  },
): Promise<Committed> {
  const { trigger, agent, result } = options;
  const partial = await capturePartialWork(session, claim, phase, options.workspace);
  const notes = notesRecord(claim, agent, options.notes);
  return commitNext(
    session,
    claim,
    {
      ...{ type: "PRE", trigger, outcome: null },
      ...(result && partial.remark === null ? recordOf(session, claim, agent, result) : {}),
      note: partial.remark,
      notes: notes.notes,
      partial_work: [...partial.partial_work],
      progress: progressKeptOf(options.progress),
    },
    { files: [...notes.files, ...asArtifacts([...partial.files, ...notes.files])] },
  );
}

/**
 * Saves a phase that has to stop because the session does. The lease is given back: whoever comes next goes on at
 * once, with the unfinished work. Being stopped does not use up an attempt.
 */
export async function saveStopped(
  session: Session,
  claim: Checkpoint,
  phase: PhasePlan,
  options: { readonly workspace: Workspace; readonly agent: string; readonly result: AgentResult },
): Promise<Committed> {
  const { agent, result } = options;
  const partial = await capturePartialWork(session, claim, phase, options.workspace);
  const notes = notesRecord(claim, agent, result.notes);
  const { orchestrator_state: run, workflow_state: state } = claim;
  const isDone = result.status === "succeeded" && partial.remark === null;
  const stops = (run.phases[state.current_phase]?.stops ?? 0) + 1;
  const phases = withPhase(run.phases, state.current_phase, { status: "pending", stops });
  return commitNext(
    session,
    claim,
    {
      ...{ type: "PRE", trigger: stopTrigger(session), outcome: "interrupted", lease: null },
      ...(isDone ? recordOf(session, claim, agent, result) : {}),
      note: partial.remark,
      orchestrator_state: { ...run, phases },
      notes: notes.notes,
      partial_work: [...partial.partial_work],
      progress: progressKeptOf(result.progress),
    },
    { files: [...notes.files, ...asArtifacts([...partial.files, ...notes.files])] },
  );
}

function stopTrigger(session: Session): "session_end" | "user_interrupt" {
  return session.signal.reason === "session_end" ? "session_end" : "user_interrupt";
}

/** The agent is done, but nothing of it counts yet: its files are still unfinished work. */
function recordOf(
  session: Session,
  claim: Checkpoint,
  agent: string,
  result: AgentResult,
): Partial<CheckpointChange> {
  const record = agentRecord(session, claim, agent, result, { code: [], outputs: [] });
  return { ...record, acceptance_criteria: { ...result.acceptanceCriteria } };
}
