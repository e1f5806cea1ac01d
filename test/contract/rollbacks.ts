import { describe, expect, it } from "vitest";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { aChain, aFirst, aNext, last, put } from "./chains.js";
import type { OpenStore } from "./open-store.js";

/** A checkpoint that goes back from `latest` to `target`. */
export function aRollback(latest: Checkpoint, target: Checkpoint): Checkpoint {
  return aNext(latest, { trigger: "rollback", parent_checkpoint_id: target.checkpoint_id });
}

export function describeRollbacks(world: () => OpenStore): void {
  describe("rollbacks", () => {
    it("have any earlier checkpoint as their parent, and the chain goes on from them", async () => {
      const chain = await aChain(world().store, 42, 5);
      for (const at of [0, 3, 5]) {
        const latest = last(chain);
        const rollback = aRollback(latest, chain[at] ?? latest);
        const options = { expectedLatest: latest.checkpoint_id };
        expect((await put(world().reopen(), rollback, [], options)).status).toBe("stored");
        const next = aNext(rollback);
        expect((await put(world().store, next)).status).toBe("stored");
        chain.push(rollback, next);
      }
      const listed = await world().reopen().list(42);
      expect(listed.map(({ checkpoint_id }) => checkpoint_id)).toEqual(chain.map((one) => one.checkpoint_id));
      expect(listed.map((one) => one.parent_checkpoint_id)).toEqual(
        chain.map((one) => one.parent_checkpoint_id),
      );
    });

    it("give way to whoever came first, like any other", async () => {
      const chain = await aChain(world().store, 42, 3);
      const options = { expectedLatest: chain[1]?.checkpoint_id ?? null };
      const late = aRollback(chain[1] ?? last(chain), chain[0] ?? last(chain));
      expect(await put(world().reopen(), late, [], options)).toEqual({
        status: "conflict",
        latest: last(chain),
      });
    });

    it("to what is not in the chain are refused", async () => {
      const chain = await aChain(world().store, 42, 2);
      const options = { expectedLatest: last(chain).checkpoint_id };
      const elsewhere = aRollback(last(chain), aFirst(42));
      const nowhere = { ...aRollback(last(chain), last(chain)), parent_checkpoint_id: null };
      for (const refused of [elsewhere, nowhere])
        for (const store of [world().store, world().reopen()])
          await expect(put(store, refused, [], options)).rejects.toMatchObject({ code: "checkpoint_parent" });
      expect(await world().reopen().list(42)).toHaveLength(2);
    });
  });
}
