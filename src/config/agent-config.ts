import { z } from "zod";
import { Command, Duration, defaultTimeoutMs, PassedVariable, VariableName } from "./fields.js";

export const AgentName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,49}$/, "a name has lower-case letters, digits, - and _, at most 50 in all.");

const PlainValue = z
  .unknown()
  .transform((value, context) => {
    if (typeof value === "string" && !value.includes("\0")) return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    context.addIssue({ code: "custom", message: "expected a plain value: text, a number, true or false." });
    return z.NEVER;
  })
  .meta({ type: ["string", "number", "boolean"] });

/** A program that does a phase's work. */
export const AgentConfig = z
  .strictObject({
    command: Command,
    timeout: Duration.default(defaultTimeoutMs),
    env: z.record(VariableName, PlainValue).default({}),
    pass_env: z.array(PassedVariable).default([]),
  })
  .transform(({ command, timeout, env, pass_env }) => ({
    command,
    timeoutMs: timeout,
    env,
    passEnv: pass_env,
  }))
  .readonly();
export type AgentConfig = z.infer<typeof AgentConfig>;

export const AgentConfigs = z.record(AgentName, AgentConfig).default({});
