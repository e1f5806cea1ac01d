import { setTimeout as delay } from "node:timers/promises";

/** Waits, or ends early when the signal says so. */
export async function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  await delay(Math.max(0, ms), undefined, { signal }).catch(() => {});
}
