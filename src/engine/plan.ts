import type { Layout } from "../checkpoint/layout.js";
import type { RetentionPolicy } from "../checkpoint/retention.js";
import type { Gate } from "../gates/gate.js";
import type { AgentRunner } from "../ports.js";
import type { Workflow } from "../workflow/workflow.js";

/** How the agent phases of a repo are carried out: its configuration, resolved to things that run. */
export interface Plan {
  readonly workflow: Workflow;
  readonly advance: "auto" | "manual";
  readonly maxAttempts: number;
  readonly branch: string;
  readonly protectedPaths: readonly string[];
  readonly phases: Readonly<Record<string, PhasePlan>>;
  readonly checkpoints: CheckpointPolicy;
  /** Where the files are, in the workspace and on the storage branch. */
  readonly layout: Layout;
  readonly isCompressed: boolean;
  /** What one checkpoint may write, all its files together. */
  readonly maxPutBytes: number;
  readonly retention: RetentionPolicy;
}

/** Which checkpoints are made besides those that a run can't do without. */
interface CheckpointPolicy {
  readonly batchComplete: boolean;
  readonly agentComplete: boolean;
  readonly conflictEvents: boolean;
  /** After so many steps reported by an agent; null for never. */
  readonly everyEvents: number | null;
}

export interface AgentPlan {
  readonly name: string;
  readonly runner: AgentRunner;
  readonly timeoutMs: number;
}

export interface PhasePlan {
  /** Who does each task; a phase with one task has `work`. Null where nobody is configured. */
  readonly agents: Readonly<Record<string, AgentPlan | null>>;
  /** Globs of the repo's paths this phase may change. */
  readonly writes: readonly string[];
  readonly gates: readonly Gate[];
}

/** The name of a phase's only task. */
export const onlyTask = "work";
