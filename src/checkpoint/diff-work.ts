import { type Change, changed, pairs } from "./changes.js";
import type { Checkpoint, PhaseState, PhaseStatus } from "./schema.js";

type TaskStatus = Checkpoint["execution_graph"]["node_states"][string]["status"];

/** `null` stands for a phase, task or answer that was not there. */
export interface PhaseDiff {
  readonly name: string;
  readonly before: PhaseStatus | null;
  readonly after: PhaseStatus | null;
  readonly attempt: Change<number> | null;
  readonly version: Change<number> | null;
}

export interface TaskDiff {
  readonly id: string;
  readonly agent: string | null;
  readonly before: TaskStatus | null;
  readonly after: TaskStatus | null;
}

export interface OutputDiff {
  readonly agent: string;
  readonly task: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface CriterionDiff {
  readonly name: string;
  readonly before: boolean | null;
  readonly after: boolean | null;
}

export function phaseDiffs(before: Checkpoint, after: Checkpoint): PhaseDiff[] {
  const both = pairs<PhaseState>(before.orchestrator_state.phases, after.orchestrator_state.phases);
  return both
    .map(({ key, before: old, after: now }) => ({
      name: key,
      before: old?.status ?? null,
      after: now?.status ?? null,
      attempt: changed(old?.attempt ?? 0, now?.attempt ?? 0),
      version: changed(old?.version ?? 0, now?.version ?? 0),
    }))
    .filter((one) => one.before !== one.after || one.attempt !== null || one.version !== null);
}

export function taskDiffs(before: Checkpoint, after: Checkpoint): TaskDiff[] {
  return pairs(before.execution_graph.node_states, after.execution_graph.node_states)
    .map(({ key, before: old, after: now }) => ({
      id: key,
      agent: now?.agent ?? old?.agent ?? null,
      before: old?.status ?? null,
      after: now?.status ?? null,
    }))
    .filter((one) => one.before !== one.after);
}

export function outputDiffs(before: Checkpoint, after: Checkpoint): OutputDiff[] {
  return pairs(before.agent_outputs, after.agent_outputs).flatMap(({ key: agent, before: old, after: now }) =>
    pairs(old ?? {}, now ?? {})
      .map((task) => ({
        agent,
        task: task.key,
        before: task.before?.output_summary ?? null,
        after: task.after?.output_summary ?? null,
      }))
      .filter((one) => one.before !== one.after),
  );
}

export function criterionDiffs(before: Checkpoint, after: Checkpoint): CriterionDiff[] {
  return pairs(before.acceptance_criteria, after.acceptance_criteria)
    .map(({ key, before: old, after: now }) => ({ name: key, before: old, after: now }))
    .filter((one) => one.before !== one.after);
}
