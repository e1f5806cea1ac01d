import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFileStore } from "../../../src/adapters/fs/checkpoint-store.js";
import { defaultRetention } from "../../../src/checkpoint/retention.js";
import type { Checkpoint } from "../../../src/checkpoint/schema.js";
import { aFirst, aNext, expectWhole, file, last, put } from "../../contract/chains.js";
import { compileStore } from "./other-process.js";

let other: ReturnType<typeof compileStore>;
const folder = mkdtempSync(join(tmpdir(), "crunch-crash-"));
beforeAll(() => {
  other = compileStore();
});
afterAll(() => {
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

const chainOf = (root: string) => join(root, ".claude/crunch/42/checkpoints");
const open = (root: string) => createFileStore(root, { durability: "none" });
const retention = { ...defaultRetention, manual: -1, batch_complete: 1 };

/** A chain of 159 with files, where the next put closes a page and takes an old checkpoint away. */
async function aFullChain(root: string): Promise<Checkpoint[]> {
  const chain = [aFirst(42)];
  await put(open(root), last(chain), [file("spec.md", "old"), file("notes/a.md", "old")]);
  const store = open(root);
  while (chain.length < 159) {
    const trigger = chain.length === 150 ? "batch_complete" : "manual";
    chain.push(aNext(last(chain), { trigger }));
    await put(store, last(chain), [], { retention });
  }
  return chain;
}

const files = [
  { path: "spec.md", content: "new" },
  { path: "notes/a.md", content: null },
  { path: "artifacts/b", content: "new" },
];

/** Either all of the put is there or nothing of it, before and after somebody goes on. */
async function expectOneOrTheOther(
  root: string,
  chain: readonly Checkpoint[],
  next: Checkpoint,
): Promise<boolean> {
  const store = open(root);
  const latest = await store.latest(42);
  const isStored = latest?.checkpoint_id === next.checkpoint_id;
  expect(latest).toEqual(isStored ? next : (chain.at(-1) ?? null));
  const expected = isStored ? [...chain, next] : chain;
  const text = async (path: string) => (await store.readFile(42, path))?.toString() ?? null;
  const was = chain.length > 0 ? "old" : null;
  const check = async () => {
    const { index } = await expectWhole(store, 42);
    const ids = index.map(({ checkpoint_id }) => checkpoint_id);
    expect(ids.slice(0, expected.length)).toEqual(expected.map(({ checkpoint_id }) => checkpoint_id));
    expect(await text("spec.md")).toBe(isStored ? "new" : was);
    expect(await text("notes/a.md")).toBe(isStored ? null : was);
    expect(await text("artifacts/b")).toBe(isStored ? "new" : null);
    if (!isStored) expect(await store.load(42, next.checkpoint_id)).toBeNull();
    const removed = index.filter(({ removed_at }) => removed_at !== undefined);
    expect(removed).toHaveLength(isStored && chain.length > 0 ? 1 : 0);
  };
  await check();
  const after = expected.length === 0 ? aFirst(42) : aNext(last(expected));
  expect((await put(store, after)).status).toBe("stored");
  await check();
  expect(readdirSync(join(chainOf(root), ".staging"))).toEqual([]);
  const kept = readdirSync(chainOf(root)).filter((name) => name.startsWith("CP-"));
  const live = await store.list(42);
  expect(kept.sort()).toEqual(live.map(({ checkpoint_id }) => `${checkpoint_id}.yaml`).sort());
  return isStored;
}

describe.each(["the first put", "a put that does everything"])(
  "a process killed at any step of %s",
  (name) => {
    it("leaves the chain as it was, or with all of the put", { timeout: 120_000 }, async () => {
      const base = join(folder, name);
      const chain = name === "the first put" ? [] : await aFullChain(base);
      const parent = chain.at(-1);
      const next = parent ? aNext(parent, { trigger: "batch_complete" }) : aFirst(42);
      const outcomes: boolean[] = [];
      for (let killAt = 1; ; killAt++) {
        const root = join(folder, `${name} ${killAt}`);
        if (chain.length > 0) cpSync(base, root, { recursive: true, verbatimSymlinks: true });
        const options = { expectedLatest: next.parent_checkpoint_id, retention };
        const result = await other.put({ root, checkpoint: next, options, files, killAt });
        outcomes.push(await expectOneOrTheOther(root, chain, next));
        if (result.signal === null) {
          expect(result.status).toBe("stored");
          expect(result.steps).toContain("committed");
          break;
        }
        rmSync(root, { recursive: true });
      }
      // One point before which nothing is there, and from which all is.
      const commit = outcomes.indexOf(true);
      expect(outcomes.length).toBeGreaterThan(15);
      expect(commit).toBeGreaterThan(5);
      expect(outcomes.slice(commit)).not.toContain(false);
    });
  },
);

describe("processes that write at once", () => {
  it("one wins each parent, and the chain is whole", { timeout: 60_000 }, async () => {
    const root = join(folder, "race");
    const chain: Checkpoint[] = [];
    for (let round = 0; round < 3; round++) {
      const parent = chain.at(-1);
      const racers = Array.from({ length: 4 }, () => (parent ? aNext(parent) : aFirst(42)));
      const options = { expectedLatest: parent?.checkpoint_id ?? null };
      const results = await Promise.all(racers.map((checkpoint) => other.put({ root, checkpoint, options })));
      const statuses = results.map(({ status }) => status).sort();
      expect(statuses).toEqual(["conflict", "conflict", "conflict", "stored"]);
      chain.push(...racers.filter((_, at) => results[at]?.status === "stored"));
    }
    const { index } = await expectWhole(open(root), 42);
    expect(index.map((one) => one.checkpoint_id)).toEqual(chain.map((one) => one.checkpoint_id));
  });

  it("only one of two wins with the same content", { timeout: 60_000 }, async () => {
    const root = join(folder, "same");
    const first = aFirst(42);
    const options = { expectedLatest: null };
    const results = await Promise.all([1, 2].map(() => other.put({ root, checkpoint: first, options })));
    expect(results.map(({ status }) => status).sort()).toEqual(["conflict", "stored"]);
    await expectWhole(open(root), 42);
    expect(readFileSync(join(chainOf(root), "index.yaml"), "utf8")).toContain("total_checkpoints: 1\n");
  });
});
