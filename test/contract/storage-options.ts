import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { maxCheckpointBytes } from "../../src/checkpoint/codec.js";
import { aChain, aFirst, aNext, file, last, put } from "./chains.js";
import type { OpenStore } from "./open-store.js";

export function describeStorageOptions(world: () => OpenStore): void {
  describe("storage options", () => {
    it("a chain goes on when compression is turned on or off, and every store reads all of it", async () => {
      const { compress } = world().storage;
      const chain = await aChain(world().store, 42, 2);
      for (const other of [!compress, compress, !compress]) {
        chain.push(aNext(last(chain)));
        expect((await put(world().reopen({ compress: other }), last(chain))).status).toBe("stored");
      }
      for (const store of [world().reopen(), world().reopen({ compress: !compress })]) {
        expect(await store.latest(42)).toEqual(last(chain));
        for (const one of chain) expect(await store.load(42, one.checkpoint_id)).toEqual(one);
      }
      expect((await put(world().reopen(), aNext(last(chain)))).status).toBe("stored");
    });

    it("a compressed checkpoint is the same text in fewer bytes, under its own name", async ({ skip }) => {
      const { read, storage } = world();
      if (!read) return skip();
      const first = aFirst(42, { note: "again and ".repeat(200) });
      await put(world().reopen({ compress: true }), first);
      const bytes = await read(42, storage.layout.checkpoint(first.checkpoint_id, true));
      const text = gunzipSync(bytes ?? Buffer.of()).toString();
      expect(text).toContain(`checkpoint_id: ${first.checkpoint_id}\n`);
      expect(bytes?.length).toBeLessThan(text.length / 2);
    });

    it("a compressed file that stands for more than the limit is refused", async ({ skip }) => {
      const { corrupt, storage } = world();
      if (!corrupt) return skip();
      const [first = aFirst(42)] = await aChain(world().reopen({ compress: true }), 42, 1);
      const bomb = gzipSync(Buffer.alloc(maxCheckpointBytes + 1, "a"));
      await corrupt(42, storage.layout.checkpoint(first.checkpoint_id, true), bomb);
      const refusal = { name: "CrunchError", code: "checkpoint_too_large" };
      await expect(world().reopen().load(42, first.checkpoint_id)).rejects.toMatchObject(refusal);
      await expect(world().reopen().latest(42)).rejects.toMatchObject(refusal);
    });

    it("a put that writes more than it may, all files together, is refused and changes nothing", async () => {
      const chain = await aChain(world().store, 42, 1);
      const small = world().reopen({ maxBytes: 50_000 });
      const half = "x".repeat(24_900);
      const files = [file("a", half), file("b", half)];
      const refused = put(small, aNext(last(chain)), files);
      await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "checkpoint_too_large" });
      expect(await world().reopen().latest(42)).toEqual(last(chain));
      expect(await world().reopen().readFile(42, "a")).toBeNull();
      expect((await put(small, aNext(last(chain)), files.slice(1))).status).toBe("stored");
    });
  });
}
