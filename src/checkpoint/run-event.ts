import { z } from "zod";
import { Failure, PhaseState } from "./phase-state.js";

const Text = z.string();
const Count = z.number().int().nonnegative();
const Time = z.iso.datetime();

/** What a person is asked. */
export const Question = z.strictObject({
  type: z.enum(["approval", "choice", "text"]),
  prompt: Text,
  /** The answers to choose from; for an approval `approve` and `reject`, for a free text none. */
  choices: z.array(Text),
  /** When nobody has to answer any more, and what then counts as the answer: one of its own, `skip` or `fail`. */
  expires_at: Time.nullable(),
  on_timeout: Text.nullable(),
  /** How many people have to answer. */
  needed: z.number().int().positive(),
  /** What the answer is for: the phase itself, what it produced, what to do about its failure, or a consensus. */
  purpose: z.enum(["phase", "output", "error", "consensus"]),
  /** How long to wait before somebody is reminded. */
  remind_after_ms: Count.optional(),
});
export type Question = z.infer<typeof Question>;

export const Answer = z.strictObject({ response: Text, by: Text, at: Time });
export type Answer = z.infer<typeof Answer>;

const phase = Text;
const next = z.array(Text);

/** One step of a run. What a run is at any moment is what its events have made of it: see replay.ts. */
export const RunEvent = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("run:started"), workflow: Text, state: z.json() }),
  z.strictObject({ type: z.literal("phase:started"), phase, attempt: Count, version: Count }),
  z.strictObject({ type: z.literal("phase:succeeded"), phase, next }),
  z.strictObject({ type: z.literal("phase:skipped"), phase, reason: Text, next }),
  z.strictObject({ type: z.literal("phase:failed"), phase, error: Failure }),
  /** A person sent the run to a phase: these are as given here from now on. */
  z.strictObject({
    type: z.literal("run:moved"),
    phases: z.record(Text, PhaseState),
    /** Of these, the tasks that are complete stay so. */
    keep: z.array(Text).optional(),
  }),
  /** The session was asked to stop while it worked on it. */
  z.strictObject({ type: z.literal("phase:stopped"), phase }),
  z.strictObject({
    type: z.literal("phase:retrying"),
    phase,
    error: Failure,
    retries: Count,
    retry_at: Time,
  }),
  /** A phase led back, or jumped, to `due`: that one begins at once, and these are to be done again. */
  z.strictObject({ type: z.literal("phases:reset"), phases: z.array(Text), due: Text }),
  z.strictObject({
    type: z.literal("tasks:planned"),
    phase,
    tasks: z.record(Text, z.strictObject({ depends_on: z.array(Text), input: Text.optional() })),
  }),
  z.strictObject({ type: z.literal("task:started"), phase, task: Text, at: Time }),
  /** The agent has ended, but what it did has not been looked at yet. */
  z.strictObject({ type: z.literal("task:reported"), phase, task: Text, result: Text }),
  z.strictObject({ type: z.literal("task:completed"), phase, task: Text, at: Time, result: Text }),
  z.strictObject({ type: z.literal("task:failed"), phase, task: Text, at: Time, error: Failure }),
  z.strictObject({ type: z.literal("task:skipped"), phase, task: Text, reason: Text }),
  z.strictObject({ type: z.literal("batch:completed"), phase, batch: Count }),
  /** A task changed files that another one had changed since it began, and does its work again on top of that. */
  z.strictObject({ type: z.literal("conflict:started"), phase, task: Text, paths: z.array(Text) }),
  z.strictObject({ type: z.literal("conflict:resolved"), phase, task: Text }),
  z.strictObject({ type: z.literal("state:changed"), set: z.record(Text, z.json()), unset: z.array(Text) }),
  z.strictObject({
    type: z.literal("input:requested"),
    phase,
    question: Question,
    at: Time,
    /** The failure that it asks about. */
    error: Failure.optional(),
  }),
  z.strictObject({ type: z.literal("input:received"), phase, answer: Answer }),
  /** Nobody has to answer any more: enough people did, or the time was up. */
  z.strictObject({ type: z.literal("input:closed"), phase, response: Text, timed_out: z.boolean() }),
  z.strictObject({ type: z.literal("checkpoint:created"), checkpoint_id: Text, trigger: Text }),
  z.strictObject({ type: z.literal("run:finished"), phase }),
  z.strictObject({ type: z.literal("run:failed"), phase, error: Failure }),
]);
export type RunEvent = z.infer<typeof RunEvent>;
export type RunEventType = RunEvent["type"];

/** What a run knows besides where its phases stand: the data of the workflow, and what people are asked. */
export const RunState = z.strictObject({
  state: z.record(Text, z.json()),
  questions: z.record(
    Text,
    z.strictObject({
      question: Question,
      asked_at: Time,
      answers: z.array(Answer),
      /** The checkpoint that asked it; missing in that one itself. */
      checkpoint_id: Text.optional(),
    }),
  ),
});
export type RunState = z.infer<typeof RunState>;
