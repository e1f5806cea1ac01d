import { beforeEach, describe, expect, it } from "vitest";
import { createMemoryStore, type MemoryChains } from "../../src/adapters/memory/checkpoint-store.js";
import { lastValidCheckpoint } from "../../src/app/last-valid.js";
import { encodeCheckpoint } from "../../src/checkpoint/codec.js";
import { nextCheckpoint } from "../../src/checkpoint/create.js";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { defaultRetention } from "../../src/checkpoint/retention.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { aCheckpoint, aMaker } from "../builders.js";

let chains: MemoryChains;
let chain: Checkpoint[];
const store = () => createMemoryStore(chains);
let maker = aMaker();

function aNext(parent: Checkpoint, changes: Partial<Checkpoint> = {}): Checkpoint {
  const change = { type: "POST", trigger: "manual", outcome: "succeeded" } as const;
  return { ...nextCheckpoint(parent, change, maker), ...changes };
}

/** A chain of so many checkpoints, stored. */
async function aChain(issue: number, length: number): Promise<Checkpoint[]> {
  const place = { checkpoint_id: "CP-enrich-20250113-0000", sequence: 1, parent_checkpoint_id: null };
  const first = { ...aCheckpoint(), ...place, issue_number: issue };
  const made: Checkpoint[] = [];
  for (let next: Checkpoint = first; made.length < length; next = aNext(next)) {
    await store().put(next, { expectedLatest: next.parent_checkpoint_id });
    made.push(next);
  }
  return made;
}

/** Puts other bytes in a file's place, behind the store's back; null takes the file away. */
function corrupt(path: string, bytes: string | null): void {
  const files = chains.get(42) ?? new Map<string, Buffer>();
  if (bytes === null) files.delete(path);
  else files.set(path, Buffer.from(bytes));
}
const id = (at: number) => chain.at(at)?.checkpoint_id ?? "";
const corruptOne = (at: number, bytes: string | null = "broken") =>
  corrupt(defaultLayout.checkpoint(id(at)), bytes);

describe("the newest checkpoint that can be gone back to", () => {
  beforeEach(async () => {
    chains = new Map();
    maker = aMaker();
    chain = await aChain(42, 5);
  });

  it("is the latest, when nothing is broken", async () => {
    expect(await lastValidCheckpoint(store(), 42)).toEqual({ checkpoint: chain[4], broken: [] });
  });

  it("is none, when there is no chain", async () => {
    expect(await lastValidCheckpoint(store(), 7)).toEqual({ checkpoint: null, broken: [] });
  });

  it("is the one before those that are broken, which are named with the reason", async () => {
    corruptOne(4);
    corruptOne(3, encodeCheckpoint(chain[3] ?? expect.fail()).replace("octocat", "octopus"));
    const { checkpoint, broken } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toEqual(chain[2]);
    expect(broken).toEqual([
      { id: id(4), reason: expect.stringContaining("does not end with its own hash") },
      { id: id(3), reason: expect.stringContaining("does not match its hash") },
    ]);
  });

  it("has no broken ancestors", async () => {
    corruptOne(1);
    const { checkpoint, broken } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toEqual(chain[0]);
    expect(broken.map((one) => one.id)).toEqual([id(1)]);
  });

  it("may have ancestors that retention took away", async () => {
    const next = aNext(chain[4] ?? expect.fail());
    const retention = { ...defaultRetention, phase_transition: 1, manual: 1 };
    await store().put(next, { expectedLatest: id(-1), retention });
    expect((await store().list(42)).length).toBeLessThan(6);
    expect(await lastValidCheckpoint(store(), 42)).toEqual({ checkpoint: next, broken: [] });
    corrupt(defaultLayout.checkpoint(next.checkpoint_id), "broken");
    const { checkpoint } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toEqual(chain[4]);
  });

  it("is not one whose parent's file is lost without a word in the index", async () => {
    corruptOne(2, null);
    const { checkpoint, broken } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toEqual(chain[1]);
    expect(broken).toEqual([{ id: id(2), reason: "Its file is missing." }]);
  });

  it("is not one that was forged onto a later or an unknown parent", async () => {
    const forge = (at: number, parent: string) =>
      corruptOne(at, encodeCheckpoint({ ...(chain[at] ?? expect.fail()), parent_checkpoint_id: parent }));
    forge(3, id(4));
    forge(4, "CP-enrich-20250114-ffff");
    const { checkpoint, broken } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toEqual(chain[2]);
    expect(broken.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("which does not come before it"),
      expect.stringContaining("which does not come before it"),
    ]);
  });

  it("needs no sound checkpoints on a branch that was rolled back", async () => {
    const change = { trigger: "rollback", type: "PRE", outcome: null } as const;
    const back = aNext(chain[1] ?? expect.fail(), { ...change, sequence: 6 });
    await store().put(back, { expectedLatest: id(4) });
    corruptOne(3);
    expect(await lastValidCheckpoint(store(), 42)).toEqual({ checkpoint: back, broken: [] });
  });

  it("is none, when the first is broken and all others build on it", async () => {
    corruptOne(0);
    const { checkpoint, broken } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toBeNull();
    expect(broken.map((one) => one.id)).toEqual([id(0)]);
  });

  it("is found without the index, which is said to be broken", async () => {
    corrupt(defaultLayout.index, "checkpoints: [\n");
    const { checkpoint, broken } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toEqual(chain[4]);
    expect(broken).toEqual([{ id: "index", reason: expect.stringContaining("index is not valid") }]);
  });

  it("is none, when neither the index nor the latest can be read", async () => {
    corrupt(defaultLayout.index, "[");
    corruptOne(4);
    const { checkpoint, broken } = await lastValidCheckpoint(store(), 42);
    expect(checkpoint).toBeNull();
    expect(broken.map((one) => one.id)).toEqual(["index", "latest"]);
  });

  it("is not said to be broken by a network that is down", async () => {
    const down = { ...store(), load: () => Promise.reject(new Error("socket hang up")) };
    await expect(lastValidCheckpoint(down, 42)).rejects.toThrow("socket hang up");
  });

  it("is found in a long chain by reading each checkpoint about once", async () => {
    chain = await aChain(43, 200);
    corrupt43(chain[3]?.checkpoint_id ?? "");
    let loads = 0;
    const inner = store();
    const load = (issue: number, one: string) => {
      loads += 1;
      return inner.load(issue, one);
    };
    const { checkpoint } = await lastValidCheckpoint({ ...inner, load }, 43);
    expect(checkpoint).toEqual(chain[2]);
    expect(loads).toBeLessThan(210);
  });
});

function corrupt43(one: string): void {
  chains.get(43)?.set(defaultLayout.checkpoint(one), Buffer.from("broken"));
}
