import type { Layout } from "../layout.js";
import type { NextPhase } from "../rollback.js";
import type { Artifact, Checkpoint, GateResult, PartialFile, TokenUsage, Trigger } from "../schema.js";

/** What may be told at any moment, whatever else it is about. It adds to what the run knows already. */
export interface Findings {
  /** By name, usually the path. An artifact that is named again has been written again. */
  readonly artifacts?: Readonly<Record<string, Artifact>>;
  readonly notes?: Readonly<Record<string, Artifact>>;
  readonly knowledge?: {
    readonly injected?: readonly string[];
    readonly captured?: readonly string[];
    readonly pending?: readonly string[];
  };
  /** The messages between agents that are open now. */
  readonly messages?: { readonly pending?: readonly string[]; readonly awaiting?: readonly string[] };
  readonly acceptanceCriteria?: Readonly<Record<string, boolean>>;
  readonly filesModified?: Checkpoint["files_modified"];
  /** What an agent has changed so far and not finished. */
  readonly partialWork?: readonly PartialFile[];
  readonly progress?: Checkpoint["progress"];
  /** What is known anew of the issue and its code. */
  readonly snapshot?: Partial<Checkpoint["issue_snapshot"]>;
  /** What of the run can be seen elsewhere; without `branch_head` nobody notices that the branch was deleted. */
  readonly projections?: Partial<Checkpoint["projections"]>;
  readonly note?: string;
  readonly metadata?: Checkpoint["metadata"];
}

/** A task as it is planned. */
export interface Task {
  readonly dependsOn?: readonly string[];
  readonly agent?: string;
}

/** What became of a task. */
export interface TaskReport {
  /** "complete" where it is left out. */
  readonly status?: "complete" | "failed" | "skipped";
  readonly summary: string;
  /** Who did it, where that is another than was planned. */
  readonly agent?: string;
  readonly tokenUsage?: TokenUsage;
  readonly toolInvocations?: Checkpoint["agent_states"][string]["tool_invocations"];
  readonly outputLocation?: string;
}

export type TaskReports = Readonly<Record<string, TaskReport>>;

interface PhaseEnd {
  /** Tasks that ended with the phase and were not reported before. */
  readonly tasks?: TaskReports;
  readonly qualityGates?: readonly GateResult[];
  readonly complianceChecks?: readonly GateResult[];
  readonly durationMs?: number;
}

/** What belongs to each trigger alone. */
interface Facts {
  readonly phase_start: {
    readonly phase: string;
    /** Left out: what an earlier attempt has planned, or else one task with the phase's name. */
    readonly tasks?: Readonly<Record<string, Task>>;
  };
  readonly phase_transition: PhaseEnd & {
    /** "succeeded" where it is left out. A phase may be skipped before it begins: then it is named here. */
    readonly outcome?: "succeeded" | "skipped";
    readonly phase?: string;
  };
  readonly phase_failure: PhaseEnd & { readonly error: NonNullable<Checkpoint["error"]> };
  readonly batch_complete: { readonly tasks?: TaskReports };
  readonly agent_complete: { readonly task: string; readonly report: TaskReport };
  readonly conflict_start: {
    readonly conflict: string;
    readonly about?: string;
    readonly between?: readonly string[];
  };
  readonly conflict_resolved: {
    readonly conflict: string;
    readonly resolution: string;
    readonly resolvedBy?: string;
  };
  readonly user_interrupt: object;
  readonly session_end: object;
  readonly manual: object;
  readonly approval: { readonly by: string };
  readonly rollback: {
    readonly target: Checkpoint;
    /** The phases as they run, the terminal one last; without it, the run's own. */
    readonly order?: readonly string[];
    /** Where the chain's own files are, if not where they are by default. */
    readonly layout?: Pick<Layout, "chain">;
    /** Where a run with these phases goes on; without it, with the first that is to be done. */
    readonly nextPhase?: NextPhase;
  };
  readonly before_human: { readonly phase: string; readonly question?: string };
  readonly pause: { readonly pause: NonNullable<Checkpoint["pause"]> };
  readonly every_n_events: object;
}

/** Something that happened, and that a checkpoint is made of. */
export type Moment<T extends Trigger = Trigger> = {
  [K in T]: { readonly trigger: K } & Facts[K] & Findings;
}[T];
