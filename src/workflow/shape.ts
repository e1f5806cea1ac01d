import type { RetryPolicy, TimeLimits } from "./definition.js";

/**
 * A workflow without functions: what a preset or a YAML file says. Conditions and values are expressions over `state`
 * (the workflow's data), `output` (what the phase came to), `issue` and `phases` (the status of each); see
 * expression.ts.
 */
export interface WorkflowShape {
  readonly name: string;
  readonly first: string;
  readonly phases: Readonly<Record<string, PhaseShape>>;
  /** The data that a run begins with. */
  readonly initial: Readonly<Record<string, unknown>>;
  readonly maxVisits: number;
  readonly snapshotEvery: number;
}

export type PhaseShape = AgentShape | TasksShape | HumanShape | ConsensusShape | TerminalShape;

/** A command of the repo, run in the workspace without a shell. */
export interface HookShape {
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

export type ErrorShape =
  | { readonly strategy: "fail" }
  | (RetryPolicy & {
      /** What the data becomes before the next try; `output` is then `{ error }`. */
      readonly update?: Readonly<Record<string, string>>;
    })
  | { readonly strategy: "pause"; readonly prompt?: string };

/** Where a phase leads: to all of these, or to those of the first choice whose condition holds. */
export type NextShape =
  | readonly string[]
  | { readonly choices: readonly { readonly if: string | null; readonly to: readonly string[] }[] };

/** What a person is asked. `prompt` may hold expressions in `{{ }}`. */
export interface AskShape {
  readonly type: "approval" | "choice" | "text";
  readonly prompt: string;
  /** For a choice. */
  readonly choices?: readonly string[];
  /** Asked only if this holds. */
  readonly when?: string;
  readonly timeoutMs?: number;
  readonly onTimeout?: "fail" | "skip" | { readonly answer: string };
  /** How long to wait before the first reminder. */
  readonly remindMs?: number;
  /** The name in the data that takes the answer; the phase's own if not said. */
  readonly saveAs?: string;
}

interface CommonShape {
  readonly does: string;
  /** The run goes on without it when it fails. */
  readonly optional?: boolean;
  /** It is left out, and this is why. */
  readonly skip?: string;
  readonly guard?: string;
  readonly before?: readonly HookShape[];
  readonly after?: readonly HookShape[];
  readonly finally?: readonly HookShape[];
  readonly onError?: ErrorShape;
  readonly timeLimits?: TimeLimits;
  readonly next: NextShape;
}

/** A check of what agents wrote in their notes: sections with something in them, and the step they say is completed. */
export interface NotesGateShape {
  readonly type: "notes";
  readonly name: string;
  /** Whose notes: the roles of the agents. */
  readonly roles: readonly string[];
  readonly sections: readonly string[];
  readonly step?: string;
}

/** What agents do. */
interface WorkShape extends CommonShape {
  /** The name of the agent; without, the one that the repo uses for everything. */
  readonly agent?: string;
  /** Whose notes are continued; the agent's name if not said. */
  readonly role?: string;
  /** What has to hold afterwards, besides what the repo wants. */
  readonly gates?: readonly NotesGateShape[];
  /** By name in the data, what it becomes by the phase's output. */
  readonly update?: Readonly<Record<string, string>>;
  readonly parallel?: number;
  /** Asked once the work is done. */
  readonly ask?: AskShape;
}

interface AgentShape extends WorkShape {
  readonly type: "agent";
  /** A list, with one task for each of its items. */
  readonly forEach?: string;
  readonly until?: { readonly done: string; readonly most: number };
}

export interface TaskShape {
  readonly does: string;
  readonly agent?: string;
  /** Whose notes are continued; the task's name if not said. */
  readonly role?: string;
  readonly dependsOn?: readonly string[];
}

interface TasksShape extends WorkShape {
  readonly type: "tasks";
  readonly tasks: Readonly<Record<string, TaskShape>>;
}

interface HumanShape extends CommonShape {
  readonly type: "human";
  readonly ask: AskShape;
}

export interface VoterShape {
  readonly does: string;
  readonly agent?: string;
}

export interface ConsensusShape extends CommonShape {
  readonly type: "consensus";
  /** Agents that vote; may be empty where people decide. */
  readonly voters: Readonly<Record<string, VoterShape>>;
  readonly quorum?: number;
  readonly veto?: readonly string[] | "anybody";
  readonly people?: { readonly needed: number; readonly prompt: string; readonly timeoutMs?: number };
  /** Where it leads when there is no consensus; without it the phase fails. */
  readonly otherwise?: string;
}

interface TerminalShape {
  readonly type: "terminal";
  readonly does?: string;
}
