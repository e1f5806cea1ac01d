import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../errors.js";
import type { Log } from "../ports.js";

/** How long to wait before work that ended in an unexpected error is done again; the last wait is repeated. */
const retryDelaysMs = [2_000, 15_000, 60_000, 120_000, 300_000, 600_000];
/** An outage of GitHub, or of what lies between, ends within this time; else somebody has to look. */
const longestMs = 24 * 3_600_000;
const rememberedDeliveries = 10_000;

export interface EventQueue {
  /** Starts the work and returns at once. A delivery that was seen before is left out. */
  submit(deliveryId: string | null, name: string, work: () => Promise<void>): "accepted" | "seen before";
  /** The same for work that is pointless twice at a time: left out while the one before is under way. */
  submitOnce(name: string, work: () => Promise<void>): "accepted" | "under way";
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>;
  readonly pending: number;
}

export interface EventQueueOptions {
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly sleep?: (ms: number) => Promise<void>;
}

/**
 * Webhooks want an answer within seconds, phases take hours: so the work goes on here after the answer. Losing it is
 * no harm, because a start finds every unfinished run by its checkpoints.
 */
export function createEventQueue(options: EventQueueOptions): EventQueue {
  const { log, signal } = options;
  const sleep = options.sleep ?? ((ms) => delay(ms, undefined, { signal }).catch(() => {}));
  const seen = new Set<string>();
  const running = new Set<Promise<void>>();
  const underWay = new Set<string>();

  function remember(deliveryId: string): void {
    seen.add(deliveryId);
    // A set keeps its order: the first is the oldest.
    const [oldest] = seen;
    if (seen.size > rememberedDeliveries && oldest !== undefined) seen.delete(oldest);
  }

  async function attempt(name: string, work: () => Promise<void>): Promise<void> {
    let waitedMs = 0;
    for (let tries = 0; !signal.aborted; tries++) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return;
        const waitMs = retryDelaysMs[Math.min(tries, retryDelaysMs.length - 1)] ?? 0;
        waitedMs += waitMs;
        const isOver = waitedMs > longestMs;
        const next = isOver ? "giving up; the run is safe and `/crunch` continues it" : inWords(waitMs);
        log.error(`${name}: ${messageOf(error)}; ${next}`);
        if (isOver) return;
        await sleep(waitMs);
      }
    }
  }

  function start(name: string, work: () => Promise<void>): Promise<void> {
    const job = attempt(name, work).finally(() => running.delete(job));
    running.add(job);
    return job;
  }

  return {
    submit(deliveryId, name, work) {
      if (deliveryId !== null) {
        if (seen.has(deliveryId)) return "seen before";
        remember(deliveryId);
      }
      void start(name, work);
      return "accepted";
    },
    submitOnce(name, work) {
      if (underWay.has(name)) return "under way";
      underWay.add(name);
      void start(name, work).finally(() => underWay.delete(name));
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

function inWords(waitMs: number): string {
  return waitMs < 120_000 ? `again in ${waitMs / 1000} s` : `again in ${waitMs / 60_000} min`;
}
