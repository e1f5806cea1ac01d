import type { Answer, Question, RunState } from "../checkpoint/run-event.js";
import type { Checkpoint } from "../checkpoint/schema.js";

export interface OpenQuestion extends Question {
  readonly phase: string;
  readonly answers: readonly Answer[];
}

/** How a session ended. All but `finished` go on with the next call. */
export type RunResult<S> = { readonly state: S; readonly checkpoint: Checkpoint } & (
  | { readonly status: "finished" }
  | { readonly status: "waiting"; readonly questions: readonly OpenQuestion[] }
  | { readonly status: "sleeping"; readonly until: string }
  | { readonly status: "failed"; readonly phase: string; readonly error: string }
  | { readonly status: "stopped" }
);

/** With a host, it may also be that nothing more was to begin. */
export type HostedResult<S> =
  | RunResult<S>
  | { readonly status: "held_back"; readonly state: S; readonly checkpoint: Checkpoint };

/** How it ended, without where that is written. */
export type RunResultKind =
  RunResult<never> extends infer R ? (R extends unknown ? Omit<R, "state" | "checkpoint"> : never) : never;

export function openQuestions(questions: RunState["questions"]): readonly OpenQuestion[] {
  return Object.entries(questions).map(([phase, { question, answers }]) => ({ phase, ...question, answers }));
}
