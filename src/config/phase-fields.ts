import { z } from "zod";
import type { AskShape, ErrorShape, HookShape } from "../workflow/shape.js";
import { DataName, Expression, Template, Updates } from "./expression-field.js";
import { Command, Duration, LongDuration } from "./fields.js";
import { given, needsWith, refuseKeys } from "./kinds.js";
import { describe } from "./plain-english.js";

const defaultHookMs = 10 * 60_000;

const Hook = z
  .union([Command, z.strictObject({ command: Command, timeout: Duration.optional() })], {
    error: ({ input }) =>
      `expected a command: a list of words, or a map with \`command\` and \`timeout\`, found ${describe(input)}.`,
  })
  .transform(
    (hook): HookShape =>
      "command" in hook
        ? { command: hook.command, timeoutMs: hook.timeout ?? defaultHookMs }
        : { command: hook, timeoutMs: defaultHookMs },
  );

export const Hooks = z.array(Hook);

export const TimeLimits = z
  .strictObject({
    guard: Duration.optional(),
    before: Duration.optional(),
    run: Duration.optional(),
    after: Duration.optional(),
    finally: Duration.optional(),
  })
  .transform(given);

const ErrorPolicy = z
  .strictObject({
    strategy: z.enum(["fail", "retry", "pause"]),
    max_retries: z.number().int().min(1).max(100).optional(),
    backoff: z.enum(["fixed", "exponential"]).optional(),
    delay: LongDuration.optional(),
    max_delay: LongDuration.optional(),
    jitter: z.number().min(0).max(1).optional(),
    update: Updates.optional(),
    prompt: Template.optional(),
  })
  .transform((policy, context): ErrorShape => {
    const { strategy, max_retries: maxRetries, backoff, delay, max_delay, jitter, update, prompt } = policy;
    const retry = ["retry"];
    const only = { max_retries: retry, backoff: retry, delay: retry, max_delay: retry, jitter: retry };
    refuseKeys(context, policy, {
      ...{ of: "strategy", is: strategy },
      only: { ...only, update: retry, prompt: ["pause"] },
    });
    if (strategy === "fail") return { strategy };
    if (strategy === "pause") return { strategy, ...given({ prompt }) };
    if (maxRetries === undefined) {
      context.addIssue({ code: "custom", message: needsMaxRetries });
      return z.NEVER;
    }
    const times = { delayMs: delay, maxDelayMs: max_delay };
    return { strategy, maxRetries, ...given({ backoff, ...times, jitter, update }) };
  })
  .meta(needsWith("strategy", "retry", "max_retries"));

const needsMaxRetries =
  "`retry` needs `max_retries`, how often to try again: { strategy: retry, max_retries: 3 }.";

export const OnError = z.union(
  [z.enum(["fail", "pause"]).transform((strategy): ErrorShape => ({ strategy })), ErrorPolicy],
  {
    error: ({ input }) =>
      input === "retry"
        ? needsMaxRetries
        : `expected "fail", "pause" or a map with \`strategy\`, found ${describe(input)}.`,
  },
);

/** Answers that an approval can have. */
const approvals = ["approve", "reject"];

export const Ask = z
  .strictObject({
    type: z.enum(["approval", "choice", "text"]).default("approval"),
    prompt: Template,
    choices: z.array(z.string().min(1).max(100)).min(1).optional(),
    when: Expression.optional(),
    timeout: LongDuration.optional(),
    on_timeout: z
      .union([z.enum(["fail", "skip"]), z.strictObject({ answer: z.string().min(1).max(500) })], {
        error: ({ input }) => `expected "fail", "skip" or a map with \`answer\`, found ${describe(input)}.`,
      })
      .optional(),
    remind: LongDuration.optional(),
    save_as: DataName.optional(),
  })
  .transform((ask, context): AskShape => {
    const { type, prompt, choices, when, timeout, on_timeout: onTimeout, remind, save_as: saveAs } = ask;
    const problem = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    refuseKeys(context, ask, { of: "type", is: type, only: { choices: ["choice"] } });
    if (type === "choice" && !choices) problem([], "a choice needs `choices`, the answers to choose from.");
    if (onTimeout !== undefined && timeout === undefined)
      problem(["on_timeout"], "`on_timeout` needs a `timeout`: without one it is waited for ever.");
    const answers = type === "approval" ? approvals : (choices ?? []);
    if (typeof onTimeout === "object" && answers.length > 0 && !answers.includes(onTimeout.answer))
      problem(
        ["on_timeout", "answer"],
        `expected one of the answers, ${answers.join(", ")}, found ${describe(onTimeout.answer)}.`,
      );
    const times = { timeoutMs: timeout, onTimeout, remindMs: remind };
    return { type, prompt, ...given({ choices, when, ...times, saveAs }) };
  })
  .meta(needsWith("type", "choice", "choices"));
