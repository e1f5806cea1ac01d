import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../errors.js";
import type { Log } from "../ports.js";

/** How long to wait before an event that ended in an unexpected error is handled again. */
const retryDelaysMs = [2_000, 15_000, 60_000];
const rememberedDeliveries = 10_000;

export interface EventQueue {
  /** Starts the work and returns at once. A delivery that was seen before is left out. */
  submit(deliveryId: string | null, name: string, work: () => Promise<void>): "accepted" | "seen before";
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>;
  readonly pending: number;
}

/**
 * Webhooks want an answer within seconds, phases take hours: so the work goes on here after the answer. Losing it is
 * no harm, because a start finds every unfinished run by its checkpoints.
 */
export function createEventQueue(options: { readonly log: Log; readonly signal: AbortSignal }): EventQueue {
  const { log, signal } = options;
  const seen = new Set<string>();
  const running = new Set<Promise<void>>();

  function remember(deliveryId: string): void {
    seen.add(deliveryId);
    // A set keeps its order: the first is the oldest.
    const [oldest] = seen;
    if (seen.size > rememberedDeliveries && oldest !== undefined) seen.delete(oldest);
  }

  async function attempt(name: string, work: () => Promise<void>): Promise<void> {
    for (const waitMs of [...retryDelaysMs, null]) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return;
        const next =
          waitMs === null
            ? "giving up; the run is safe and `/crunch` continues it"
            : `again in ${waitMs / 1000} s`;
        log.error(`${name}: ${messageOf(error)}; ${next}`);
        if (waitMs === null) return;
        await delay(waitMs, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
      }
    }
  }

  return {
    submit(deliveryId, name, work) {
      if (deliveryId !== null) {
        if (seen.has(deliveryId)) return "seen before";
        remember(deliveryId);
      }
      const job = attempt(name, work).finally(() => running.delete(job));
      running.add(job);
      return "accepted";
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled(running);
    },
    get pending() {
      return running.size;
    },
  };
}
