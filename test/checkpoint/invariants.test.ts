import { describe, expect, it } from "vitest";
import { type IndexEntry, indexEntryOf } from "../../src/checkpoint/index-entry.js";
import { type Chain, problemsOf } from "../../src/checkpoint/invariants.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { aFirst, aNext, last } from "../contract/chains.js";

const at = "2025-01-14T10:00:00.000Z";
const hash = "a".repeat(64);

/** Four checkpoints, the third of them a rollback to the first. */
function fourCheckpoints(): Checkpoint[] {
  const [first, second] = [aFirst(42), aFirst(42)];
  const chain = [first, aNext(first, { checkpoint_id: second.checkpoint_id })];
  chain.push(aNext(last(chain), { trigger: "rollback", parent_checkpoint_id: first.checkpoint_id }));
  chain.push(aNext(last(chain)));
  return chain;
}

function aChainWith(
  edit: (checkpoints: Checkpoint[]) => readonly Checkpoint[] = (all) => all,
  editIndex: (entries: IndexEntry[]) => readonly IndexEntry[] = (all) => all,
): Chain {
  const all = edit(fourCheckpoints());
  const index = editIndex(all.map(indexEntryOf));
  const gone = new Set(index.filter((entry) => entry.removed_at).map((entry) => entry.checkpoint_id));
  const live = all.filter((one) => !gone.has(one.checkpoint_id));
  return {
    issue: 42,
    latest: last(all),
    index,
    checkpoints: new Map(live.map((one) => [one.checkpoint_id, one])),
  };
}

const replaced = <T>(list: readonly T[], place: number, changes: Partial<T>) =>
  list.map((one, index) => (index === place ? { ...one, ...changes } : one));

describe("a chain", () => {
  it("with a rollback is whole, and so is one that retention has thinned", () => {
    expect(problemsOf(aChainWith())).toEqual([]);
    expect(problemsOf(aChainWith(undefined, (all) => replaced(all, 1, { removed_at: at })))).toEqual([]);
    expect(problemsOf({ issue: 42, latest: null, index: [], checkpoints: new Map() })).toEqual([]);
  });

  it.each<[string, Chain, RegExp]>([
    ["a file is missing", { ...aChainWith(), checkpoints: new Map() }, /file is missing/],
    ["`latest` points elsewhere", { ...aChainWith(), latest: aFirst(42) }, /latest points to/],
    [
      "the latest is removed",
      aChainWith(undefined, (all) => replaced(all, 3, { removed_at: at })),
      /latest, and removed/,
    ],
    ["an id comes twice", aChainWith((all) => [...all, last(all)]), /in the index twice/],
    ["a place is left out", aChainWith((all) => replaced(all, 3, { sequence: 5 })), /number 5/],
    [
      "the index has another parent",
      aChainWith(undefined, (all) =>
        replaced(all, 3, { parent_checkpoint_id: all[0]?.checkpoint_id ?? null }),
      ),
      /another trigger or parent/,
    ],
    [
      "a parent is not there",
      aChainWith((all) => replaced(all, 3, { parent_checkpoint_id: aFirst(42).checkpoint_id })),
      /does not come before/,
    ],
    [
      "one that is no rollback goes back",
      aChainWith((all) => replaced(all, 3, { parent_checkpoint_id: all[0]?.checkpoint_id ?? null })),
      /is no rollback/,
    ],
    [
      "a later one has no parent",
      aChainWith((all) => replaced(all, 1, { parent_checkpoint_id: null })),
      /has no parent/,
    ],
    [
      "a rollback lost its target",
      aChainWith(undefined, (all) => replaced(all, 0, { removed_at: at })),
      /went back to/,
    ],
    [
      "one is of another issue",
      aChainWith((all) => replaced(all, 1, { issue_number: 43 })),
      /belongs to issue 43/,
    ],
    [
      "a phase succeeded twice",
      aChainWith((all) =>
        all.map((one) => (one.trigger === "manual" ? { ...one, trigger: "phase_transition" } : one)),
      ),
      /succeeded twice/,
    ],
  ])("is not whole when %s", (_, chain, message) => {
    expect(problemsOf(chain).join("\n")).toMatch(message);
  });

  it("is not whole without the artifacts that a live checkpoint names, if anybody has looked", () => {
    const chain = aChainWith((all) =>
      replaced(all, 1, { notes: { builder: { path: "notes/builder.md", hash, size_bytes: 1 } } }),
    );
    expect(problemsOf(chain)).toEqual([]);
    expect(problemsOf({ ...chain, hasFile: (path) => path === `artifacts/${hash}` })).toEqual([]);
    expect(problemsOf({ ...chain, hasFile: () => false }).join()).toMatch(
      /names artifacts\/a+, which is missing/,
    );
  });
});
