import { pairs } from "./changes.js";
import type { Checkpoint } from "./schema.js";

export interface Amount {
  readonly before: number;
  readonly after: number;
  readonly delta: number;
}

export interface UsageDiff {
  readonly input: Amount;
  readonly output: Amount;
  readonly total: Amount;
  /** The agents whose use differs, those that used the most first. */
  readonly byAgent: readonly { readonly agent: string; readonly input: number; readonly output: number }[];
}

/** What agents used up between the two; null when they used nothing. */
export function usageDiff(before: Checkpoint, after: Checkpoint): UsageDiff | null {
  const byAgent = pairs(before.agent_states, after.agent_states)
    .map(({ key, before: old, after: now }) => ({
      agent: key,
      input: (now?.token_usage.input ?? 0) - (old?.token_usage.input ?? 0),
      output: (now?.token_usage.output ?? 0) - (old?.token_usage.output ?? 0),
    }))
    .filter(({ input, output }) => input !== 0 || output !== 0)
    .sort((a, b) => Math.abs(b.input + b.output) - Math.abs(a.input + a.output));
  if (byAgent.length === 0) return null;
  const input = amount(used(before, "input"), used(after, "input"));
  const output = amount(used(before, "output"), used(after, "output"));
  return { input, output, total: amount(input.before + output.before, input.after + output.after), byAgent };
}

/** Known only where both checkpoints say it: agents differ in whether they know what they cost. */
export function costDiff(before: Checkpoint, after: Checkpoint): Amount | null {
  const [old, now] = [before.metadata.cost_usd, after.metadata.cost_usd];
  return typeof old === "number" && typeof now === "number" && old !== now ? amount(old, now) : null;
}

function used({ agent_states }: Checkpoint, kind: "input" | "output"): number {
  return Object.values(agent_states).reduce((sum, { token_usage }) => sum + token_usage[kind], 0);
}

function amount(before: number, after: number): Amount {
  return { before, after, delta: after - before };
}
