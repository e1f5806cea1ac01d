import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/adapters/memory/checkpoint-store.js";
import { indexEntryOf } from "../../src/checkpoint/index-entry.js";
import {
  defaultRetention,
  expiredCheckpoints,
  type RetentionPolicy,
} from "../../src/checkpoint/retention.js";
import { type Checkpoint, type PhaseStatus, Trigger } from "../../src/checkpoint/schema.js";
import { aFirst, aNext, expectWhole, last, put } from "../contract/chains.js";

const keepNothing = Object.fromEntries(Trigger.options.map((name) => [name, 0])) as RetentionPolicy;

/** A chain of checkpoints with these triggers. */
function aChainOf(...triggers: readonly Trigger[]): Checkpoint[] {
  const chain = [aFirst(42)];
  for (const trigger of triggers) chain.push(aNext(last(chain), { trigger }));
  return chain;
}

const inPhase = (checkpoint: Checkpoint, current_phase: string): Checkpoint => ({
  ...checkpoint,
  workflow_state: { ...checkpoint.workflow_state, current_phase },
});

const withPhase = (
  checkpoint: Checkpoint,
  status: PhaseStatus,
  checkpoint_id: string | null,
): Checkpoint => ({
  ...checkpoint,
  orchestrator_state: {
    ...checkpoint.orchestrator_state,
    phases: { ready: { status, attempt: 1, version: 1, checkpoint_id } },
  },
});

/** The places in the chain of what goes when its last one is stored. */
function expired(chain: readonly Checkpoint[], policy: RetentionPolicy): number[] {
  const ids = expiredCheckpoints(chain.slice(0, -1).map(indexEntryOf), policy, last(chain));
  return ids.map((id) => chain.findIndex((one) => one.checkpoint_id === id)).sort((a, b) => a - b);
}

describe("retention", () => {
  it("keeps the last three batches and the last interrupt, and all milestones", () => {
    const chain = aChainOf(
      ...([
        "batch_complete",
        "phase_transition",
        "batch_complete",
        "user_interrupt",
        "batch_complete",
      ] as const),
      ...(["user_interrupt", "phase_transition", "batch_complete"] as const),
    );
    expect(expired(chain, defaultRetention)).toEqual([1, 4]);
  });

  it("counts each phase for itself", () => {
    const chain = aChainOf("agent_complete", "agent_complete", "manual", "manual");
    const [first, second] = [chain[1] ?? aFirst(42), chain[2] ?? aFirst(42)];
    expect(expired(chain, defaultRetention)).toEqual([1]);
    chain[2] = inPhase(second, "docs");
    expect(expired(chain, defaultRetention)).toEqual([]);
    chain[1] = inPhase(first, "docs");
    expect(expired(chain, defaultRetention)).toEqual([1]);
  });

  it("-1 keeps all, also the oldest", () => {
    const chain = aChainOf(...Array.from({ length: 50 }, () => "manual" as const));
    expect(expired(chain, defaultRetention)).toEqual([]);
  });

  it("0 keeps none but the latest and its parent", () => {
    expect(expired(aChainOf("manual", "pause", "manual", "pause"), keepNothing)).toEqual([0, 1, 2]);
  });

  it("keeps what the new checkpoint refers to", () => {
    const chain = aChainOf("manual", "manual", "manual");
    chain.push(withPhase(aNext(last(chain)), "succeeded", chain[1]?.checkpoint_id ?? null));
    expect(expired(chain, keepNothing)).toEqual([0, 2]);
  });

  it("keeps what a rollback went back to for as long as it keeps the rollback", () => {
    const chain = aChainOf("manual", "manual");
    chain.push(
      aNext(last(chain), { trigger: "rollback", parent_checkpoint_id: chain[1]?.checkpoint_id ?? null }),
    );
    chain.push(aNext(last(chain)), aNext(last(chain)));
    chain.push(aNext(last(chain)));
    expect(expired(chain, { ...keepNothing, rollback: 1 })).toEqual([0, 2, 4]);
    expect(expired(chain, keepNothing)).toEqual([0, 1, 2, 3, 4].filter((at) => at !== chain.length - 2));
  });

  it("keeps the question that a person has not answered yet", () => {
    const chain = aChainOf("before_human", "manual", "manual", "manual");
    const waiting = [...chain.slice(0, -1), withPhase(last(chain), "waiting", null)];
    expect(expired(waiting, keepNothing)).toEqual([0, 2]);
    expect(expired(chain, keepNothing)).toEqual([0, 1, 2]);
  });

  it("does not take away again what is gone", () => {
    const entries = aChainOf("pause", "pause", "pause").map((one) => ({
      ...indexEntryOf(one),
      removed_at: one.created_at,
    }));
    expect(expiredCheckpoints(entries, keepNothing, aFirst(42))).toEqual([]);
  });
});

describe("whatever the policy and the sequence", () => {
  const triggers = ["manual", "batch_complete", "rollback", "pause"] as const;
  const step = fc.record({
    trigger: fc.constantFrom(...triggers),
    phase: fc.constantFrom("enrich", "docs"),
    back: fc.nat(400),
  });
  const policyOf = fc.record(
    Object.fromEntries(triggers.map((name) => [name, fc.integer({ min: -1, max: 3 })])) as Record<
      (typeof triggers)[number],
      fc.Arbitrary<number>
    >,
  );

  it("the chain stays whole, and no more is kept than the policy says", { timeout: 120_000 }, async () => {
    const runs = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.constantFrom(1, 1, 1, 12),
      policyOf,
      async (steps, times, chosen) => {
        const retention = { ...defaultRetention, ...chosen };
        const store = createMemoryStore();
        let latest = aFirst(42);
        await put(store, latest);
        for (const { trigger, phase, back } of Array.from({ length: times }, () => steps).flat()) {
          const live = await store.list(42);
          const target = live[back % live.length]?.checkpoint_id ?? null;
          const parent = trigger === "rollback" ? { parent_checkpoint_id: target } : {};
          const next = inPhase(aNext(latest, { trigger, ...parent }), phase);
          const result = await put(store, next, [], { expectedLatest: latest.checkpoint_id, retention });
          expect(result.status).toBe("stored");
          latest = next;
        }
        const { index } = await expectWhole(store, 42);
        expectWithin(
          retention,
          index.filter(({ removed_at }) => removed_at === undefined),
          latest,
        );
      },
    );
    await fc.assert(runs, { numRuns: 60 });
  });

  function expectWithin(
    policy: RetentionPolicy,
    live: readonly ReturnType<typeof indexEntryOf>[],
    latest: Checkpoint,
  ) {
    const needed = new Set([latest.checkpoint_id, latest.parent_checkpoint_id]);
    for (const { trigger, parent_checkpoint_id } of live)
      if (trigger === "rollback") needed.add(parent_checkpoint_id);
    const counts = new Map<string, number>();
    for (const { checkpoint_id, trigger, phase } of live) {
      if (policy[trigger] < 0 || needed.has(checkpoint_id)) continue;
      const group = `${trigger} ${phase}`;
      counts.set(group, (counts.get(group) ?? 0) + 1);
      expect(counts.get(group)).toBeLessThanOrEqual(policy[trigger]);
    }
  }
});
