import { describe, expect, it } from "vitest";
import { createMemoryStore, type MemoryChains } from "../../src/adapters/memory/checkpoint-store.js";
import { readLatest } from "../../src/app/mend.js";
import { verifyChain } from "../../src/app/verify-chain.js";
import { nextCheckpoint } from "../../src/checkpoint/create.js";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { CrunchError } from "../../src/errors.js";
import type { CodeHost } from "../../src/ports.js";
import { aMaker } from "../builders.js";
import { aChain } from "../contract/chains.js";

const code = { head: async () => null } as unknown as CodeHost;
const about = { issue: 42, key: "comment:1", actor: "mona", commentId: 1 };

async function aBrokenChain() {
  const chains: MemoryChains = new Map();
  const store = createMemoryStore(chains);
  const [first, second, third] = await aChain(store, 42, 3);
  if (!first || !second || !third) throw new Error("no chain");
  const path = defaultLayout.checkpoint(third.checkpoint_id);
  chains.get(42)?.set(path, Buffer.from("changed by hand\n"));
  return { store, second, third };
}

describe("a chain whose latest checkpoint can't be read", () => {
  it("is told with the newest one that can, and the comment that goes back to it", async () => {
    const { store, second } = await aBrokenChain();
    const read = readLatest(store, code, { kind: "started", issue: 42, key: "started" });
    const error = await read.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(CrunchError);
    expect((error as CrunchError).hint).toContain(`/crunch rollback ${second.checkpoint_id}`);
  });

  it("is mended by a rollback to that one", async () => {
    const { store, second, third } = await aBrokenChain();
    const command = { name: "rollback", checkpoint: second.checkpoint_id } as const;
    const standIn = await readLatest(store, code, { kind: "command", ...about, command });
    expect(standIn).toMatchObject({
      checkpoint_id: third.checkpoint_id,
      sequence: 3,
      artifacts: {},
      notes: {},
    });
    if (!standIn) return;
    const change = { type: "PRE", trigger: "rollback", outcome: null } as const;
    const made = { ...nextCheckpoint(standIn, change, aMaker()), parent_checkpoint_id: second.checkpoint_id };
    const mended = { ...made, checkpoint_id: "CP-enrich-20250114-beef" };
    expect(await store.put(mended, { expectedLatest: third.checkpoint_id })).toMatchObject({
      status: "stored",
    });
    expect((await store.latest(42))?.checkpoint_id).toBe(mended.checkpoint_id);
    // What is broken stays so, and is still named.
    expect((await verifyChain(store, 42)).problems.join()).toContain(third.checkpoint_id);
  });

  it("is not overwritten by anything else", async () => {
    const { store, third } = await aBrokenChain();
    const change = { type: "PRE", trigger: "manual", outcome: null } as const;
    const next = nextCheckpoint({ ...third, sequence: 3 }, change, aMaker());
    await expect(store.put(next, { expectedLatest: third.checkpoint_id })).rejects.toThrow(CrunchError);
  });
});
