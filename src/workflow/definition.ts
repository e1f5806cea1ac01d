/** Milliseconds each part of a phase may take; a part without a number has no limit. */
export interface TimeLimits {
  readonly guard?: number;
  readonly before?: number;
  readonly run?: number;
  readonly after?: number;
  readonly finally?: number;
}

/** What a phase's functions are told. */
export interface PhaseContext<S> {
  /** The workflow's data as it was when the phase, or the task, began. It is a copy. */
  readonly state: S;
  readonly phase: string;
  /** From 1; one more for each session that died in it. */
  readonly attempt: number;
  /** From 1; one more each time the workflow comes back to this phase. */
  readonly version: number;
  /** How often the phase failed and was tried again since it began. */
  readonly retries: number;
  /** Aborted when the time is up or the session is asked to stop. */
  readonly signal: AbortSignal;
}

export interface TaskContext<S, Item = undefined> extends PhaseContext<S> {
  readonly task: string;
  /** What `forEach` gave for this task. */
  readonly item: Item;
}

type MaybePromise<T> = T | Promise<T>;

/** How often, and after which waits, a phase that failed is tried again. */
export interface RetryPolicy {
  readonly strategy: "retry";
  readonly maxRetries: number;
  /** Default fixed. */
  readonly backoff?: "fixed" | "exponential";
  /** The wait before the first retry; default 1,000. */
  readonly delayMs?: number;
  /** The longest wait; default an hour, or `delayMs` if that is longer. */
  readonly maxDelayMs?: number;
  /** The part of a wait that is left to chance, 0 to 1; default 0.2. */
  readonly jitter?: number;
}

/** What to do when a phase fails. Without one, the run fails. */
export type ErrorPolicy<S> =
  | { readonly strategy: "fail" }
  | (RetryPolicy & {
      /** Changes the data before the next try. */
      readonly onRetry?: (error: Error, draft: S) => void;
    })
  | {
      /** Asks a person, who answers retry, skip or fail. */
      readonly strategy: "pause";
      readonly prompt?: (error: Error, state: S) => string;
    };

/** What a person is asked. */
export type HumanRequest = {
  readonly prompt: string;
  /** How long to wait for an answer; without a number, for ever. */
  readonly timeoutMs?: number;
  /** How long to wait before somebody is reminded; without a number, nobody is. */
  readonly remindAfterMs?: number;
  /** What counts when nobody has answered in time; default `fail`. */
  readonly onTimeout?: "fail" | "skip" | { readonly answer: string };
} & (
  | { readonly type: "approval" }
  | { readonly type: "choice"; readonly choices: readonly string[] }
  | { readonly type: "text" }
);

/**
 * Where a phase leads: one phase; several, which then run at the same time; a choice among those named; or S1's plain
 * function, which may name any phase, so that less can be checked.
 */
export type Next<S, Names extends string, Output> =
  | Names
  | readonly Names[]
  | {
      readonly to: readonly Names[];
      readonly choose: (state: S, output: Output | undefined) => Names | readonly Names[];
    }
  | ((state: S, output: Output | undefined) => Names);

interface Common<S> {
  /** What the phase is for, in a few words. */
  readonly does?: string;
  /** The run goes on without it when it fails. */
  readonly optional?: boolean;
  /** It is left out, and this is why. */
  readonly skip?: string;
  /** False skips the phase, which counts as neutral; an error goes to `onError`. */
  readonly guard?: (state: S) => MaybePromise<boolean>;
  readonly before?: (context: PhaseContext<S>) => MaybePromise<void>;
  /** Always runs at the end of a try, however it went. */
  readonly finally?: (context: PhaseContext<S>) => MaybePromise<void>;
  readonly onError?: ErrorPolicy<S>;
  readonly timeLimits?: TimeLimits;
}

interface Worker<S, Names extends string, Output> extends Common<S> {
  /** Runs after success. */
  after?(output: Output, context: PhaseContext<S>): MaybePromise<void>;
  /** Takes what came of it into the data; for several tasks once each, in their order. It must do nothing else. */
  update?(output: Output, draft: S): void;
  /** How many tasks may run at the same time; default all. */
  readonly parallel?: number;
  /** Asked once the work is done; null asks nobody. */
  readonly human?: HumanRequest | ((state: S, output: Output | undefined) => HumanRequest | null);
  readonly onResponse?: (response: string, draft: S) => void;
  readonly next: Next<S, Names, Output>;
}

/** One task, or one for each of `forEach`. */
export interface AgentPhase<S, Names extends string, Output = unknown, Item = undefined>
  extends Worker<S, Names, Output> {
  readonly type: "agent";
  readonly run: (context: TaskContext<S, Item>) => MaybePromise<Output>;
  readonly forEach?: (state: S) => readonly Item[];
  /** Runs again until it is done, but not more than `most` times: then the phase fails. */
  readonly until?: {
    readonly done: (state: S, output: Output | undefined) => boolean;
    readonly most: number;
  };
}

export interface TaskDefinition<S, Output = unknown> {
  readonly run: (context: TaskContext<S>) => MaybePromise<Output>;
  /** The tasks that have to be complete before. */
  readonly dependsOn?: readonly string[];
}

/** A graph of tasks. */
export interface TasksPhase<S, Names extends string, Output = unknown> extends Worker<S, Names, Output> {
  readonly type: "tasks";
  readonly tasks: Readonly<Record<string, TaskDefinition<S, Output>>>;
}

export interface HumanPhase<S, Names extends string> extends Common<S> {
  readonly type: "human";
  readonly human: HumanRequest | ((state: S) => HumanRequest);
  readonly onResponse: (response: string, draft: S) => void;
  readonly after?: (context: PhaseContext<S>) => MaybePromise<void>;
  readonly next: Next<S, Names, string>;
}

export interface Vote {
  readonly vote: "approve" | "reject" | "abstain";
  readonly reason?: string;
}

/** A gate in the graph: agents vote, people approve, or both. */
export interface ConsensusPhase<S, Names extends string> extends Common<S> {
  readonly type: "consensus";
  readonly voters: Readonly<Record<string, (context: TaskContext<S>) => MaybePromise<Vote>>>;
  /** How many of the voters have to approve; default more than half of those who did not abstain. */
  readonly quorum?: number;
  /** Whose single "reject" is enough: names of voters, or everybody. */
  readonly veto?: readonly string[] | "anybody";
  /** How many people have to approve as well; default none. */
  readonly people?: {
    readonly needed: number;
    readonly prompt: string | ((state: S) => string);
    readonly timeoutMs?: number;
  };
  readonly next: Next<S, Names, ConsensusResult>;
  /** Where it leads when there is no consensus; without it the phase fails. */
  readonly otherwise?: Names;
}

export interface ConsensusResult {
  readonly approved: boolean;
  readonly votes: Readonly<Record<string, Vote>>;
}

export interface TerminalPhase {
  readonly type: "terminal";
  readonly does?: string;
}

export type PhaseDefinition<S, Names extends string> =
  // biome-ignore lint/suspicious/noExplicitAny: what a phase gives and takes is its own affair
  | AgentPhase<S, Names, any, any>
  // biome-ignore lint/suspicious/noExplicitAny: the same
  | TasksPhase<S, Names, any>
  | HumanPhase<S, Names>
  | ConsensusPhase<S, Names>
  | TerminalPhase;

export function agentPhase<S, const Names extends string, Output = unknown, Item = undefined>(
  definition: Omit<AgentPhase<S, Names, Output, Item>, "type">,
): AgentPhase<S, Names, Output, Item> {
  return { type: "agent", ...definition };
}

export function tasksPhase<S, const Names extends string, Output = unknown>(
  definition: Omit<TasksPhase<S, Names, Output>, "type">,
): TasksPhase<S, Names, Output> {
  return { type: "tasks", ...definition };
}

export function humanPhase<S, const Names extends string>(
  definition: Omit<HumanPhase<S, Names>, "type">,
): HumanPhase<S, Names> {
  return { type: "human", ...definition };
}

export function consensusPhase<S, const Names extends string>(
  definition: Omit<ConsensusPhase<S, Names>, "type">,
): ConsensusPhase<S, Names> {
  return { type: "consensus", ...definition };
}

export function terminalPhase(does?: string): TerminalPhase {
  return { type: "terminal", ...(does === undefined ? {} : { does }) };
}
