import { describe, expect, it } from "vitest";
import { defaultRetention } from "../../src/checkpoint/retention.js";
import { aFirst, aNext, last, put } from "./chains.js";
import type { OpenStore } from "./open-store.js";

export function describeHistory(world: () => OpenStore): void {
  describe("a long history", () => {
    it("works like a short one, and the last puts cost what the first ones did", {
      timeout: 120_000,
    }, async () => {
      const { store, longHistory, operations } = world();
      const chain = [aFirst(42)];
      const short = [aFirst(43)];
      const [times, shortTimes, counts]: [number[], number[], number[]] = [[], [], []];
      for (let at = 0; at < longHistory; at++) {
        if (at > 0) chain.push(aNext(last(chain), { trigger: at % 3 === 0 ? "batch_complete" : "manual" }));
        const [start, before] = [performance.now(), operations?.() ?? 0];
        const { status } = await put(store, last(chain), [], { retention: defaultRetention });
        if (status !== "stored") throw new Error(`the ${at}th is a ${status}`);
        times.push(performance.now() - start);
        counts.push((operations?.() ?? 0) - before);
        // A short history beside the last of the long one: what else the machine does slows both alike.
        if (longHistory <= 300 || at < longHistory - 400) continue;
        if (shortTimes.length > 0) short.push(aNext(last(short), { trigger: "manual" }));
        const shortStart = performance.now();
        await put(store, last(short), [], { retention: defaultRetention });
        shortTimes.push(performance.now() - shortStart);
      }
      expect(new Set(counts.slice(1)).size).toBe(1);
      // The index grows to its full size within the first 160.
      const early = median(shortTimes.slice(-200));
      if (longHistory > 300) expect(median(times.slice(-200))).toBeLessThan(early * 3 + 1);
      const other = world().reopen();
      expect(await other.latest(42)).toEqual(last(chain));
      const all = await other.list(42, { removed: true });
      expect(all.map((one) => one.checkpoint_id)).toEqual(chain.map((one) => one.checkpoint_id));
      const live = (await other.list(42)).filter(({ trigger }) => trigger === "batch_complete");
      expect(live).toHaveLength(3);
      for (const one of [chain[1], chain[Math.floor(longHistory / 2)]])
        if (one?.trigger === "manual") expect(await other.load(42, one.checkpoint_id)).toEqual(one);
    });
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
