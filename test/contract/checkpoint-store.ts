import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeCheckpoint } from "../../src/checkpoint/codec.js";
import { indexEntryOf } from "../../src/checkpoint/index-entry.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { CrunchError } from "../../src/errors.js";
import { aChain, aFirst, aNext, expectWhole, file, last, put } from "./chains.js";
import { describeHistory } from "./history.js";
import type { OpenStore } from "./open-store.js";
import { describeRetention } from "./retention.js";
import { describeRollbacks } from "./rollbacks.js";
import { describeStorageOptions } from "./storage-options.js";

/** What every store owes to the engine. */
export function describeCheckpointStore(name: string, open: () => Promise<OpenStore>): void {
  describe(`the ${name} store`, () => {
    let world: OpenStore;
    let isDamaged: boolean;
    beforeEach(async () => {
      const { corrupt, ...opened } = await open();
      isDamaged = false;
      world = opened;
      if (corrupt) {
        world.corrupt = async (...args) => {
          isDamaged = true;
          await corrupt(...args);
        };
      }
    });
    /** Whatever a test did: what it has not damaged is whole. */
    afterEach(async () => {
      const store = world.reopen();
      for (const issue of isDamaged ? [] : await store.issues()) await expectWhole(store, issue);
      await world.close();
    });
    const pathOf = (id: string) => world.storage.layout.checkpoint(id, world.storage.compress);
    const entryOf = (checkpoint: Checkpoint) => ({
      ...indexEntryOf(checkpoint),
      ...(world.storage.compress ? { compressed: true } : {}),
    });

    it("knows nothing of an issue without a chain", async () => {
      const { store } = world;
      expect(await store.latest(42)).toBeNull();
      expect(await store.load(42, "CP-enrich-20250114-a3f2")).toBeNull();
      expect(await store.list(42)).toEqual([]);
      expect(await store.readFile(42, "spec.md")).toBeNull();
      expect(await store.issues()).toEqual([]);
    });

    it("gives a checkpoint back as it was put, here and to another process", async () => {
      const first = aFirst(42);
      const result = await put(world.store, first);
      expect(result).toEqual({ status: "stored", commit: expect.stringMatching(/./) });
      for (const store of [world.store, world.reopen()]) {
        expect(await store.latest(42)).toEqual(first);
        expect(await store.load(42, first.checkpoint_id)).toEqual(first);
        expect(await store.list(42)).toEqual([entryOf(first)]);
      }
    });

    it("keeps every checkpoint of a chain and lists them in order", async () => {
      const chain = await aChain(world.store, 42, 4);
      const store = world.reopen();
      expect(await store.list(42)).toEqual(chain.map(entryOf));
      for (const one of chain) expect(await store.load(42, one.checkpoint_id)).toEqual(one);
      expect(await store.latest(42)).toEqual(chain[3]);
    });

    it("goes on where another process left off", async () => {
      const [first, second] = [world.store, world.reopen()];
      const chain = await aChain(first, 42, 1);
      for (const store of [second, first, second, first]) {
        const next = aNext(last(chain));
        expect((await put(store, next)).status).toBe("stored");
        chain.push(next);
      }
      expect(await second.list(42)).toEqual(chain.map(entryOf));
    });

    describe("when somebody else came first", () => {
      it("refuses with the other's checkpoint and changes nothing", async () => {
        const chain = await aChain(world.store, 42, 2);
        const [first, second] = [last(chain.slice(0, 1)), last(chain)];
        const late = aNext(first);
        for (const store of [world.reopen(), world.store]) {
          const result = await put(store, late, [file("spec.md", "late")]);
          expect(result).toEqual({ status: "conflict", latest: second });
        }
        const store = world.reopen();
        expect(await store.latest(42)).toEqual(second);
        expect(await store.list(42)).toEqual(chain.map(entryOf));
        expect(await store.load(42, late.checkpoint_id)).toBeNull();
        expect(await store.readFile(42, "spec.md")).toBeNull();
      });

      it("refuses a second beginning", async () => {
        const [first] = await aChain(world.store, 42, 1);
        expect(await put(world.reopen(), aFirst(42))).toEqual({ status: "conflict", latest: first });
      });

      it("refuses a parent that there never was", async () => {
        expect(await put(world.store, aNext(aFirst(42)))).toEqual({ status: "conflict", latest: null });
        expect(await world.store.latest(42)).toBeNull();
        expect(await world.store.issues()).toEqual([]);
      });

      it("a store that knows of an older latest takes the put that builds on the newer one", async () => {
        const other = world.reopen();
        const chain = await aChain(world.store, 42, 1);
        expect(await other.latest(42)).toEqual(last(chain));
        const second = aNext(last(chain));
        await put(world.store, second);
        expect((await put(other, aNext(second))).status).toBe("stored");
      });
    });

    describe("when many write at once", () => {
      it("lets exactly one of them win each parent", async () => {
        const stores = [world.store, world.reopen()];
        const chain: Checkpoint[] = [];
        for (let round = 0; round < 4; round++) {
          const parent = chain.at(-1);
          const racers = Array.from({ length: 6 }, () => (parent ? aNext(parent) : aFirst(42)));
          const results = await Promise.all(
            racers.map((racer, at) => put(at % 2 === 0 ? world.store : last(stores), racer)),
          );
          const winners = racers.filter((_, at) => results[at]?.status === "stored");
          expect(winners).toHaveLength(1);
          chain.push(last(winners));
          for (const result of results)
            if (result.status === "conflict") expect(result.latest).toEqual(last(winners));
        }
        const store = world.reopen();
        expect(await store.latest(42)).toEqual(last(chain));
        expect(await store.list(42)).toEqual(chain.map(entryOf));
      });

      it("lets only one of two win with the same content in the same second", async () => {
        const next = aNext(last(await aChain(world.store, 42, 1)));
        const other = world.reopen();
        await other.latest(42);
        const results = await Promise.all([put(world.store, next), put(other, next)]);
        expect(results.map(({ status }) => status).sort()).toEqual(["conflict", "stored"]);
        expect(await world.reopen().list(42)).toHaveLength(2);
      });

      it("lets every issue in when each writes its own chain", async () => {
        const stores = [world.store, world.reopen()];
        const firsts = [1, 2, 3, 4].map((issue) => aFirst(issue));
        const results = await Promise.all(
          firsts.map((first, at) => put(at % 2 === 0 ? world.store : last(stores), first)),
        );
        expect(results.map(({ status }) => status)).toEqual(["stored", "stored", "stored", "stored"]);
        for (const first of firsts) expect(await world.reopen().latest(first.issue_number)).toEqual(first);
      });
    });

    describe("what is refused", () => {
      it("an id that is taken, and nothing changes", async () => {
        const chain = await aChain(world.store, 42, 2);
        const [first] = chain;
        const again = aNext(last(chain), { checkpoint_id: first?.checkpoint_id ?? "", note: "forged" });
        for (const store of [world.store, world.reopen()]) {
          const refused = put(store, again, [file("spec.md", "x")]);
          await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "checkpoint_id_taken" });
        }
        const store = world.reopen();
        expect(await store.latest(42)).toEqual(last(chain));
        expect(await store.load(42, again.checkpoint_id)).toEqual(first);
        expect(await store.list(42)).toHaveLength(2);
        expect(await store.readFile(42, "spec.md")).toBeNull();
      });

      it.each([
        ["climbs out", "../../x"],
        ["is a property of every object", "__proto__"],
        ["has a NUL", "CP-enrich-20250114-a3f2\0"],
        ["ends with a line break", "CP-enrich-20250114-a3f2\n"],
        ["has 300 characters", `CP-enrich-20250114-${"a".repeat(281)}`],
        ["is empty", ""],
        ["is a path", "CP-enrich-20250114-a3f2/../latest"],
      ])("an id that %s, before any I/O", async (_, id) => {
        const before = world.operations?.();
        const invalid = { name: "CrunchError", code: "checkpoint_id_invalid" };
        await expect(world.store.load(42, id)).rejects.toMatchObject(invalid);
        await expect(put(world.store, aFirst(42, { checkpoint_id: id }))).rejects.toMatchObject(invalid);
        const orphan = aNext(aFirst(42), { parent_checkpoint_id: id });
        await expect(put(world.store, orphan)).rejects.toThrow(CrunchError);
        expect(world.operations?.()).toBe(before);
        expect(await world.store.issues()).toEqual([]);
      });

      it("a checkpoint that names another parent than the put expects", async () => {
        const [first] = await aChain(world.store, 42, 1);
        const refused = world.store.put(aFirst(42), { expectedLatest: first?.checkpoint_id ?? null });
        await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "checkpoint_parent" });
        expect(await world.reopen().list(42)).toHaveLength(1);
      });

      it.each(["../43/checkpoints/latest", "/etc/passwd", "notes//x", "notes/../../x", "a\0b", "a\\b", "."])(
        "a file %j, which is not inside the issue's folder",
        async (path) => {
          const refusal = { name: "CrunchError", code: "file_path_refused" };
          await expect(put(world.store, aFirst(42), [file(path, "x")])).rejects.toMatchObject(refusal);
          await expect(world.store.readFile(42, path)).rejects.toMatchObject(refusal);
          expect(await world.store.latest(42)).toBeNull();
        },
      );

      it("a file that would take the place of the chain's own", async () => {
        const own = [
          world.storage.layout.latest,
          world.storage.layout.index,
          pathOf("CP-enrich-20250114-a3f2"),
        ];
        for (const path of own) {
          const refused = put(world.store, aFirst(42), [file(path, "x")]);
          await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "file_path_refused" });
        }
        expect(await world.store.latest(42)).toBeNull();
      });
    });

    describe("files of the issue's folder", () => {
      it("come with the checkpoint, change with the next and stay otherwise", async () => {
        const first = aFirst(42);
        await put(world.store, first, [file("spec.md", "# Spec\n"), file("notes/builder.md", "one")]);
        const second = aNext(first);
        await put(world.store, second, [file("notes/builder.md", "two — ü 🦀")]);
        for (const store of [world.store, world.reopen()]) {
          expect((await store.readFile(42, "spec.md"))?.toString()).toBe("# Spec\n");
          expect((await store.readFile(42, "notes/builder.md"))?.toString()).toBe("two — ü 🦀");
          expect(await store.readFile(42, "missing.md")).toBeNull();
        }
      });

      it("are gone once they are deleted, and so is their folder", async () => {
        const first = aFirst(42);
        await put(world.store, first, [file("notes/a.md", "a"), file("spec.md", "s")]);
        const result = await put(world.store, aNext(first), [file("notes/a.md", null)]);
        expect(result.status).toBe("stored");
        const store = world.reopen();
        expect(await store.latest(42)).not.toBeNull();
        expect(await store.readFile(42, "notes/a.md")).toBeNull();
        expect((await store.readFile(42, "spec.md"))?.toString()).toBe("s");
      });

      it("can be deleted before they ever were, with the first checkpoint", async () => {
        expect((await put(world.store, aFirst(42), [file("spec.md", null)])).status).toBe("stored");
        expect(await world.store.readFile(42, "spec.md")).toBeNull();
      });

      it("keep every byte of what is not text", async () => {
        const bytes = Buffer.from(Array.from({ length: 1024 }, (_, at) => at % 256));
        const invalidUtf8 = Buffer.from([0x66, 0xc3, 0x28, 0xff, 0x0a]);
        const withBom = Buffer.from("\uFEFFtext\r\n");
        const files = [
          file("a.bin", bytes),
          file("b.bin", invalidUtf8),
          file("c.txt", withBom),
          file("empty", ""),
        ];
        await put(world.store, aFirst(42), files);
        const store = world.reopen();
        for (const { path, content } of files)
          expect((await store.readFile(42, path))?.equals(content ?? Buffer.of())).toBe(true);
      });

      it("may be a megabyte of text", async () => {
        const text = "ein langer Absatz — mit Umlauten äöü 🦀\n".repeat(22_000);
        expect(Buffer.byteLength(text)).toBeGreaterThan(1_000_000);
        await put(world.store, aFirst(42), [file("long.md", text)]);
        expect((await world.reopen().readFile(42, "long.md"))?.toString() === text).toBe(true);
      });

      it("are not changed by who gave or who got them", async () => {
        const given = Buffer.from("given");
        await put(world.store, aFirst(42), [file("a", given)]);
        given.fill("x");
        (await world.store.readFile(42, "a"))?.fill("y");
        expect((await world.store.readFile(42, "a"))?.toString()).toBe("given");
      });

      it("keep their mode", async ({ skip }) => {
        if (!world.mode) return skip();
        await put(world.store, aFirst(42), [
          file("run.sh", "#!/bin/sh\n", "100755"),
          file("run.bin", Buffer.of(0, 255), "100755"),
          file("plain", "x"),
        ]);
        expect(await world.mode(42, "run.sh")).toBe("100755");
        expect(await world.mode(42, "run.bin")).toBe("100755");
        expect(await world.mode(42, "plain")).toBe("100644");
      });
    });

    describe("several issues", () => {
      it("do not disturb one another", async () => {
        const chains = new Map<number, Checkpoint[]>();
        for (const issue of [7, 42, 123]) chains.set(issue, await aChain(world.store, issue, 2));
        const other = world.reopen();
        for (const [issue, chain] of chains) {
          const next = aNext(last(chain));
          expect((await put(other, next, [file("spec.md", `of ${issue}`)])).status).toBe("stored");
          chain.push(next);
        }
        for (const [issue, chain] of chains) {
          // Another issue's put may have moved what they share, and that is no conflict.
          const next = aNext(last(chain));
          expect((await put(world.store, next)).status).toBe("stored");
          expect(await other.list(issue)).toEqual([...chain, next].map(entryOf));
          expect((await world.store.readFile(issue, "spec.md"))?.toString()).toBe(`of ${issue}`);
        }
      });

      it("may have checkpoints with the same id", async () => {
        const [one, two] = [aFirst(1), aFirst(2)];
        await put(world.store, one);
        const same = { ...two, checkpoint_id: one.checkpoint_id };
        expect((await put(world.store, same)).status).toBe("stored");
        expect(await world.store.load(1, one.checkpoint_id)).toEqual(one);
        expect(await world.store.load(2, one.checkpoint_id)).toEqual(same);
      });

      it("are all found, in order", async () => {
        for (const issue of [42, 7, 1234]) await put(world.store, aFirst(issue));
        expect(await world.store.issues()).toEqual([7, 42, 1234]);
        expect(await world.reopen().issues()).toEqual([7, 42, 1234]);
      });
    });

    describe("a chain that was changed behind the store's back", () => {
      /** Two checkpoints, the second with other bytes; null where the store can't be changed from behind. */
      async function damaged(change: (bytes: Buffer, chain: readonly Checkpoint[]) => Buffer) {
        if (!world.read || !world.corrupt) return null;
        const chain = await aChain(world.reopen(), 42, 2);
        const path = pathOf(last(chain).checkpoint_id);
        const bytes = await world.read(42, path);
        if (bytes === null) throw new Error(`${path} is not there`);
        await world.corrupt(42, path, change(Buffer.from(bytes), chain));
        return chain;
      }

      it.for<[string, (bytes: Buffer, chain: readonly Checkpoint[]) => Buffer]>([
        ["has a flipped bit", (bytes) => bytes.fill((bytes[300] ?? 0) ^ 1, 300, 301)],
        ["is cut in the middle", (bytes) => bytes.subarray(0, bytes.length / 2)],
        ["lost its last byte", (bytes) => bytes.subarray(0, -1)],
        ["is empty", () => Buffer.of()],
        ["is not YAML", () => Buffer.from("[".repeat(50_000))],
        [
          "had its parent edited",
          (bytes, [first]) =>
            Buffer.from(bytes.toString().replace(first?.checkpoint_id ?? "", "CP-enrich-20240101-ffff")),
        ],
        [
          "was forged to be its own parent",
          (_, [, second]) => {
            const own = second ?? aFirst(42);
            return Buffer.from(encodeCheckpoint({ ...own, parent_checkpoint_id: own.checkpoint_id }));
          },
        ],
        ["was forged from another issue's", () => Buffer.from(encodeCheckpoint(aFirst(43)))],
      ])("a latest that %s is refused", async ([, change], { skip }) => {
        const chain = await damaged(change);
        if (chain === null) return skip();
        const second = last(chain);
        await expect(world.store.latest(42)).rejects.toThrow(CrunchError);
        await expect(world.store.load(42, second.checkpoint_id)).rejects.toThrow(CrunchError);
        await expect(put(world.store, aNext(second))).rejects.toThrow(CrunchError);
        // The others are still there to go back to.
        expect(await world.store.load(42, chain[0]?.checkpoint_id ?? "")).toEqual(chain[0]);
        expect(await world.store.list(42)).toHaveLength(2);
      });

      it("nothing is built on a latest that holds an older checkpoint's content", async ({ skip }) => {
        const chain = await damaged((_, [first]) => Buffer.from(encodeCheckpoint(first ?? aFirst(42))));
        if (chain === null) return skip();
        for (const parent of chain) {
          const outcome = await put(world.reopen(), aNext(parent)).catch((error: unknown) => error);
          expect(outcome).not.toMatchObject({ status: "stored" });
        }
        expect(await world.store.list(42)).toHaveLength(2);
      });

      it.for([
        ["names a checkpoint that is not there", "CP-enrich-20250114-ffff.yaml"],
        ["names a file elsewhere", "../../43/checkpoints/latest"],
        ["is empty", ""],
      ])("a `latest` that %s is refused, and is no empty chain", async ([, content = ""], { skip }) => {
        if (!world.corrupt) return skip();
        await aChain(world.reopen(), 42, 2);
        await world.corrupt(42, world.storage.layout.latest, Buffer.from(content));
        await expect(world.store.latest(42)).rejects.toThrow(CrunchError);
        await expect(put(world.store, aFirst(42))).rejects.toThrow(CrunchError);
      });

      it("a `latest` that was set back by hand: nothing is built on it, and nothing is lost", async ({
        skip,
      }) => {
        if (!world.corrupt) return skip();
        const chain = await aChain(world.store, 42, 3);
        const old = chain[1] ?? aFirst(42);
        await world.corrupt(
          42,
          world.storage.layout.latest,
          Buffer.from(pathOf(old.checkpoint_id).split("/").at(-1) ?? ""),
        );
        const store = world.reopen();
        expect(await store.latest(42)).toEqual(old);
        await expect(put(store, aNext(old))).rejects.toMatchObject({ code: "index_mismatch" });
        expect(await store.list(42)).toHaveLength(3);
        expect(await store.load(42, last(chain).checkpoint_id)).toEqual(last(chain));
      });

      it("an index that is broken is refused, and `latest` needs none", async ({ skip }) => {
        if (!world.corrupt) return skip();
        const chain = await aChain(world.reopen(), 42, 2);
        await world.corrupt(42, world.storage.layout.index, Buffer.from("checkpoints: [\n"));
        await expect(world.store.list(42)).rejects.toThrow(CrunchError);
        await expect(put(world.store, aNext(last(chain)))).rejects.toThrow(CrunchError);
        expect(await world.store.latest(42)).toEqual(last(chain));
      });
    });

    describeRollbacks(() => world);
    describeRetention(() => world);
    describeStorageOptions(() => world);
    describeHistory(() => world);
  });
}
