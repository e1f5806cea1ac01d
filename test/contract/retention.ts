import { describe, expect, it } from "vitest";
import { defaultRetention, type RetentionPolicy } from "../../src/checkpoint/retention.js";
import type { Checkpoint, Trigger } from "../../src/checkpoint/schema.js";
import { aChain, aNext, file, last, put } from "./chains.js";
import type { OpenStore } from "./open-store.js";
import { aRollback } from "./rollbacks.js";

const retention: RetentionPolicy = { ...defaultRetention, batch_complete: 2, pause: 0 };

export function describeRetention(world: () => OpenStore): void {
  /** A beginning, and a checkpoint for each trigger on top of it. */
  async function aChainOf(triggers: readonly Trigger[]): Promise<Checkpoint[]> {
    const chain = await aChain(world().store, 42, 1);
    for (const [at, trigger] of triggers.entries()) {
      const next = aNext(last(chain), { trigger });
      const files = [file(`artifacts/${at}`, `of ${at}`)];
      expect((await put(world().store, next, files, { retention })).status).toBe("stored");
      chain.push(next);
    }
    return chain;
  }

  const idsOf = (list: readonly { readonly checkpoint_id: string }[]) => list.map((one) => one.checkpoint_id);

  describe("retention", () => {
    it("takes older checkpoints away with the put, marks them, and keeps what they produced", async () => {
      const chain = await aChainOf([
        "batch_complete",
        "batch_complete",
        "manual",
        "batch_complete",
        "manual",
      ]);
      const [gone, kept] = [chain.slice(1, 2), [...chain.slice(0, 1), ...chain.slice(2)]];
      for (const store of [world().store, world().reopen()]) {
        expect(idsOf(await store.list(42))).toEqual(idsOf(kept));
        const all = await store.list(42, { removed: true });
        expect(idsOf(all)).toEqual(idsOf(chain));
        expect(idsOf(all.filter((entry) => entry.removed_at !== undefined))).toEqual(idsOf(gone));
        for (const { checkpoint_id } of gone) expect(await store.load(42, checkpoint_id)).toBeNull();
        for (const one of kept) expect(await store.load(42, one.checkpoint_id)).toEqual(one);
        expect((await store.readFile(42, "artifacts/0"))?.toString()).toBe("of 0");
      }
    });

    it("never takes the latest or its parent, even where nothing is to be kept", async () => {
      const chain = await aChainOf(["pause", "pause", "pause"]);
      const left = idsOf(await world().reopen().list(42));
      expect(left).toEqual(idsOf([...chain.slice(0, 1), ...chain.slice(-2)]));
    });

    it("takes nothing away with a put that gives way", async () => {
      const chain = await aChainOf(["batch_complete", "batch_complete"]);
      const late = aNext(last(chain), {
        trigger: "batch_complete",
        parent_checkpoint_id: chain[0]?.checkpoint_id ?? null,
      });
      expect((await put(world().reopen(), late, [], { retention })).status).toBe("conflict");
      expect(idsOf(await world().reopen().list(42))).toEqual(idsOf(chain));
    });

    it("keeps what a rollback went back to", async () => {
      const chain = await aChainOf(["batch_complete", "manual"]);
      const target = chain[1] ?? last(chain);
      const rollback = aRollback(last(chain), target);
      await put(world().store, rollback, [], { expectedLatest: last(chain).checkpoint_id, retention });
      chain.push(rollback);
      for (let more = 0; more < 4; more++) {
        chain.push(aNext(last(chain), { trigger: "batch_complete" }));
        await put(world().store, last(chain), [], { retention });
      }
      expect(await world().reopen().load(42, target.checkpoint_id)).toEqual(target);
      expect(await world().store.list(42)).toHaveLength(chain.length - 2);
    });

    it("a rollback to what it has taken away is refused", async () => {
      const chain = await aChainOf(["batch_complete", "batch_complete", "batch_complete", "manual"]);
      const rollback = aRollback(last(chain), chain[1] ?? last(chain));
      const refused = put(world().store, rollback, [], { expectedLatest: last(chain).checkpoint_id });
      await expect(refused).rejects.toMatchObject({ code: "checkpoint_parent" });
    });
  });
}
