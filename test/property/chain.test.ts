import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CheckpointService, createCheckpointService } from "../../src/app/checkpoint-service.js";
import { verifyChain } from "../../src/app/verify-chain.js";
import type { RetentionPolicy } from "../../src/checkpoint/retention.js";
import { Trigger } from "../../src/checkpoint/schema.js";
import { CrunchError } from "../../src/errors.js";
import type { CheckpointStore } from "../../src/ports.js";
import { Crash, type CrashingChains, fileChains, memoryChains } from "./crashing-stores.js";
import { createdTriggers, momentOf, workOn } from "./moments.js";

const issue = 42;
const dice = fc.nat(1_000);
const step = fc.record({
  what: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant("create" as const),
        trigger: fc.constantFrom(...createdTriggers),
        dice,
      }),
    },
    { weight: 10, arbitrary: fc.record({ kind: fc.constant("work" as const), dice }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("rollback" as const), dice }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("resume" as const), dice }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), dice }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("race" as const), dice }) },
  ),
  /** The step of the put at which the process dies. */
  dies: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(16) }),
  retention: fc.dictionary(fc.constantFrom(...Trigger.options), fc.integer({ min: -1, max: 2 })),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const run = {
  issue,
  title: "Add a dark mode",
  body: "It is too bright.",
  phases: ["plan", "review", "build"],
};

async function take(service: CheckpointService, store: CheckpointStore, { what }: Step): Promise<unknown> {
  const latest = await store.latest(issue);
  if (!latest || what.kind === "restart") return service.begin({ ...run, restart: what.dice % 2 === 0 });
  const ids = (await store.list(issue)).map(({ checkpoint_id }) => checkpoint_id);
  const picked = ids[what.dice % ids.length] ?? latest.checkpoint_id;
  const artifacts = [{ path: `out-${what.dice % 2}.md`, content: Buffer.from(`text ${what.dice % 3}`) }];
  const files = what.dice % 3 === 0 ? {} : { artifacts, notes: { builder: `note ${what.dice % 4}` } };
  switch (what.kind) {
    case "create":
      return service.create(issue, momentOf(what.trigger, what.dice, latest), files);
    case "work":
      return service.create(issue, workOn(latest, what.dice), files);
    case "rollback":
      return service.rollback(issue, picked);
    case "resume":
      return service.resume(issue, {
        ...(what.dice % 2 === 0 && { checkpoint: picked }),
        dryRun: what.dice % 5 === 0,
      });
    case "race": {
      const save = (note: string) => service.create(issue, { trigger: "manual", note }, files);
      return Promise.all([save("one"), save("two"), service.rollback(issue, picked)]);
    }
  }
}

/** A refusal leaves the chain as it was. Anything else that is thrown is an error of ours. */
async function attempt(chains: CrashingChains, one: Step): Promise<void> {
  const store = one.dies === null ? chains.open() : chains.dying(one.dies);
  const retention: Partial<RetentionPolicy> = one.retention;
  const service = createCheckpointService({ store, retention });
  try {
    await take(service, store, one);
  } catch (error) {
    if (!(error instanceof Crash || error instanceof CrunchError)) throw error;
    if (error instanceof CrunchError) expect(brokenChain).not.toContain(error.code);
  }
}

/** What the service must never meet on a chain that it made itself. */
const brokenChain = [
  ...["checkpoint_invalid", "checkpoint_hash", "checkpoint_truncated", "checkpoint_missing", "index_invalid"],
  ...["index_mismatch", "checkpoint_parent", "artifact_missing", "artifact_changed", "checkpoint_contended"],
];

async function expectWhole(chains: CrashingChains): Promise<void> {
  const { chain, problems } = await verifyChain(chains.open(), issue);
  expect(problems).toEqual([]);
  const live = Object.values({ ...chain.latest?.artifacts, ...chain.latest?.notes });
  for (const { path } of live) expect(await chains.open().readFile(issue, path)).not.toBeNull();
}

describe.each([
  ["memory", memoryChains, 300],
  ["file", fileChains, 200],
])("a chain of the %s store", (_, create, numRuns) => {
  it("is whole after any steps, refusals and crashes, and goes on", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        const chains = create();
        try {
          for (const one of steps) {
            await attempt(chains, one);
            if (one.dies !== null) await expectWhole(chains);
          }
          await expectWhole(chains);
          const service = createCheckpointService({ store: chains.open() });
          await service.begin({ ...run, restart: true });
          await expectWhole(chains);
        } finally {
          chains.close();
        }
      }),
      { numRuns },
    );
  });
});
