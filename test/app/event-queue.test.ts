import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createEventQueue } from "../../src/app/event-queue.js";

function aQueue(sleep?: (ms: number) => Promise<void>) {
  const said: string[] = [];
  const stop = new AbortController();
  const log = { info() {}, warn() {}, error: (message: string) => void said.push(message) };
  const queue = createEventQueue({ log, signal: stop.signal, ...(sleep ? { sleep } : {}) });
  return { queue, said, stop };
}

const failing = (times: number) => {
  let calls = 0;
  const work = async () => {
    if (++calls <= times) throw new Error("no network");
  };
  return { work, calls: () => calls };
};

describe("work that ends in an error", () => {
  it("is done again for hours, with growing waits, and the log says so", async () => {
    const waits: number[] = [];
    const { queue, said } = aQueue(async (ms) => void waits.push(ms));
    const { work, calls } = failing(20);
    queue.submit(null, "octo/demo#1", work);
    await queue.settled();
    expect(calls()).toBe(21);
    expect(waits.slice(0, 7)).toEqual([2_000, 15_000, 60_000, 120_000, 300_000, 600_000, 600_000]);
    expect(waits.reduce((sum, ms) => sum + ms)).toBeGreaterThan(2 * 3_600_000);
    expect(said[0]).toBe("octo/demo#1: no network; again in 2 s");
    expect(said[6]).toBe("octo/demo#1: no network; again in 10 min");
  });

  it("is given up after a day", async () => {
    const { queue, said } = aQueue(async () => {});
    queue.submit(null, "octo/demo#1", failing(1_000).work);
    await queue.settled();
    expect(said.at(-1)).toContain("giving up; the run is safe");
  });

  it("does not keep a process that is told to stop", async () => {
    const { queue, stop } = aQueue();
    const { work, calls } = failing(1);
    queue.submit(null, "octo/demo#1", work);
    await delay(20);
    stop.abort();
    await queue.settled();
    expect(calls()).toBe(1);
  });
});

describe("work that is pointless twice at a time", () => {
  it("is left out until the one before has ended", async () => {
    const { queue } = aQueue();
    let end = () => {};
    const first = new Promise<void>((resolve) => {
      end = resolve;
    });
    expect(queue.submitOnce("looking", () => first)).toBe("accepted");
    expect(queue.submitOnce("looking", () => first)).toBe("under way");
    expect(queue.submitOnce("looking elsewhere", async () => {})).toBe("accepted");
    end();
    await queue.settled();
    expect(queue.submitOnce("looking", async () => {})).toBe("accepted");
  });
});
