import { type CheckpointId, newCheckpointId } from "./id.js";
import { recoveryInfo } from "./recovery.js";
import type { Checkpoint } from "./schema.js";

/** What every checkpoint of a run says anew; the rest is carried over from the one before. */
export type CheckpointChange = Pick<Checkpoint, "type" | "trigger" | "outcome"> &
  Partial<
    Omit<Checkpoint, "checkpoint_id" | "version" | "created_at" | "parent_checkpoint_id" | "issue_number">
  >;

export interface Maker {
  readonly now: () => Date;
  readonly randomHex: () => string;
  readonly sessionId: string;
}

/** The next checkpoint of a chain: the parent with changes, and with what belongs to one checkpoint alone reset. */
export function nextCheckpoint(parent: Checkpoint, change: CheckpointChange, maker: Maker): Checkpoint {
  const own = {
    duration_ms: 0,
    error: null,
    note: null,
    pause: null,
    partial_work: [],
    progress: [],
    metadata: {},
  };
  const { events: _told, ...carried } = parent;
  const merged = { ...carried, ...own, ...asked(carried), ...change };
  const sequence = parent.sequence + 1;
  const now = maker.now();
  const { phases } = merged.orchestrator_state;
  const taken = new Set(Object.values(phases).map((state) => state.checkpoint_id));
  return {
    ...merged,
    checkpoint_id: newId(merged, sequence, now, maker, (id) => taken.has(id) || id === parent.checkpoint_id),
    sequence,
    created_at: now.toISOString(),
    session_id: maker.sessionId,
    parent_checkpoint_id: parent.checkpoint_id,
    recovery_info: recoveryInfo(merged),
  };
}

/** A question that the parent asked is bound to it from now on. */
function asked({ run_state, checkpoint_id }: Pick<Checkpoint, "run_state" | "checkpoint_id">) {
  if (!run_state) return {};
  const questions = Object.entries(run_state.questions).map(([phase, each]) => [
    phase,
    { checkpoint_id, ...each },
  ]);
  return {
    run_state: { ...run_state, questions: Object.fromEntries(questions) as typeof run_state.questions },
  };
}

/** The parent a run's first checkpoint is made from. It is never stored itself. */
export function emptyRun(options: {
  readonly issue: Checkpoint["issue_number"];
  readonly workflow: string;
  readonly phase: string;
  readonly phases: Checkpoint["orchestrator_state"]["phases"];
  readonly snapshot: Checkpoint["issue_snapshot"];
  readonly startedBy: string;
  readonly maker: Maker;
}): Omit<Checkpoint, "checkpoint_id" | "parent_checkpoint_id"> {
  const { maker } = options;
  const now = maker.now().toISOString();
  const day = now.slice(0, 10).replaceAll("-", "");
  const tag = `${day}-${maker.randomHex().slice(0, 8)}`;
  return {
    version: "1.1",
    sequence: 1,
    type: "PRE",
    trigger: "phase_start",
    outcome: null,
    phase_version: 1,
    created_at: now,
    duration_ms: 0,
    issue_number: options.issue,
    session_id: maker.sessionId,
    lease: null,
    workflow_state: {
      workflow: options.workflow,
      current_phase: options.phase,
      current_state_label: `state:${options.phase}`,
      phase_started_at: now,
      phase_attempt: 1,
    },
    orchestrator_state: {
      run_id: `RUN-${tag}`,
      current_phase: options.phase,
      completed_phases: [],
      phases: options.phases,
      handled_events: [],
      intake_summary: { started_by: options.startedBy, title: options.snapshot.title },
    },
    issue_snapshot: options.snapshot,
    team_state: { team_id: `TEAM-${tag}`, members: [] },
    execution_graph: { graph_id: `GRAPH-${tag}`, completed_batches: [], current_batch: 1, node_states: {} },
    agent_states: {},
    agent_outputs: {},
    acp_state: { pending_messages: [], awaiting_response: [], conflicts_in_progress: [] },
    knowledge_context: { injected_entries: [], captured_entries: [], pending_captures: [] },
    files_modified: [],
    artifacts: {},
    notes: {},
    partial_work: [],
    progress: [],
    governance_results: { quality_gates: [], compliance_checks: [], passed: true },
    acceptance_criteria: {},
    error: null,
    note: null,
    projections: { comment_id: null, pull_request: null, branch_head: null },
    pause: null,
    recovery_info: { can_resume: true, resume_from: null, prerequisites_met: true, warnings: [] },
    metadata: {},
  };
}

/** The first checkpoint of a chain. */
export function firstCheckpoint(
  run: ReturnType<typeof emptyRun>,
  change: CheckpointChange,
  maker: Maker,
): Checkpoint {
  const merged = { ...run, ...change };
  const now = maker.now();
  return {
    ...merged,
    checkpoint_id: newId(merged, 1, now, maker, () => false),
    created_at: now.toISOString(),
    parent_checkpoint_id: null,
    recovery_info: recoveryInfo(merged),
  };
}

/** The same step on top of a checkpoint that came in between; what that one heard of stays heard of. */
export function rebased(checkpoint: Checkpoint, parent: Checkpoint, maker: Maker): Checkpoint {
  const now = new Date(checkpoint.created_at);
  const id = newId(checkpoint, parent.sequence + 1, now, maker, (taken) => taken === parent.checkpoint_id);
  const { handled_events: ours } = checkpoint.orchestrator_state;
  const theirs = parent.orchestrator_state.handled_events.filter((key) => !ours.includes(key));
  return {
    ...checkpoint,
    ...withAnswers(checkpoint, parent),
    checkpoint_id: id,
    sequence: parent.sequence + 1,
    parent_checkpoint_id: parent.checkpoint_id,
    orchestrator_state: { ...checkpoint.orchestrator_state, handled_events: [...theirs, ...ours] },
  };
}

/** What people answered meanwhile is not lost. */
function withAnswers({ run_state: ours }: Checkpoint, { run_state: theirs }: Checkpoint) {
  if (!ours || !theirs) return {};
  const questions = Object.entries(ours.questions).map(([phase, asked]) => {
    const other = theirs.questions[phase];
    const isMore = other?.asked_at === asked.asked_at && other.answers.length > asked.answers.length;
    return [phase, isMore ? { ...asked, answers: other.answers } : asked] as const;
  });
  return { run_state: { ...ours, questions: Object.fromEntries(questions) } };
}

function newId(
  { workflow_state }: Pick<Checkpoint, "workflow_state">,
  sequence: number,
  now: Date,
  maker: Maker,
  isTaken: (id: string) => boolean,
): CheckpointId {
  const { randomHex } = maker;
  return newCheckpointId({ phase: workflow_state.current_phase, sequence, now, randomHex, isTaken });
}
