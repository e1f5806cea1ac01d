import { setTimeout as delay } from "node:timers/promises";
import { CrunchError, messageOf } from "../errors.js";
import type { Clock, Log } from "../ports.js";

/** The waits between tries; the last one is repeated. */
const waitsMs = [500, 2_000, 8_000, 30_000, 60_000];
/** How long to go on trying where no lease says it. */
const patienceMs = 2 * 60_000;

export interface Trying {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Does again what an outage kept from being done, until the time when others may take over. An agent's work of hours
 * hangs on it. Told to stop, it waits no longer and tries once more.
 */
export async function keepTrying<T>(
  { clock, log, signal }: Trying,
  what: string,
  until: string | null,
  work: (tries: number) => Promise<T>,
): Promise<T> {
  const now = () => clock.now().getTime();
  const end = Math.max(now() + patienceMs, until === null ? 0 : Date.parse(until));
  for (let tries = 0; ; tries++) {
    const wasStopped = signal.aborted;
    try {
      return await work(tries);
    } catch (error) {
      const waitMs = waitsMs[Math.min(tries, waitsMs.length - 1)] ?? 0;
      if (!mayPass(error) || wasStopped || now() + waitMs > end) throw error;
      log.warn(`${what}: ${messageOf(error)}; again in ${waitMs / 1000} s`);
      await delay(waitMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Whether the same may work a moment later: a fault of the server or the network, or a limit that was reached. */
export function mayPass(error: unknown): boolean {
  if (error instanceof CrunchError) return error.code === "github_rate_limit";
  if (typeof error !== "object" || error === null || !("status" in error)) return false;
  return typeof error.status === "number" && (error.status >= 500 || error.status === 429);
}
