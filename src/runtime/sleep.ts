import { setTimeout as delay } from "node:timers/promises";

/** Waits, or ends early when the signal says so. */
export async function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  // A timer for longer than that would end at once.
  await delay(Math.min(Math.max(0, ms), 2 ** 31 - 1), undefined, { signal }).catch(() => {});
}
