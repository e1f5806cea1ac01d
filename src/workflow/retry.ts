import type { RetryPolicy } from "./definition.js";

const hourMs = 3_600_000;

/** How long to wait before the next try, after `retries` others. Chance keeps many runs from coming back at once. */
export function retryDelay(policy: RetryPolicy, retries: number, random: () => number): number {
  const { backoff = "fixed", delayMs = 1_000, jitter = 0.2 } = policy;
  const { maxDelayMs = Math.max(delayMs, hourMs) } = policy;
  const grown = backoff === "exponential" ? delayMs * 2 ** Math.min(retries, 60) : delayMs;
  const spread = 1 + jitter * (2 * random() - 1);
  return Math.round(Math.min(grown * spread, maxDelayMs));
}
