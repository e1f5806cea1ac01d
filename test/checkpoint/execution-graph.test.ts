import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blockedTasks,
  pendingBatches,
  restoreGraph,
  resumePoint,
} from "../../src/checkpoint/execution-graph.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";

type Graph = Checkpoint["execution_graph"];
type Node = Graph["node_states"][string];

const aNode = (changes: Partial<Node> = {}): Node => ({
  ...{ status: "pending", depends_on: [], agent: null, started_at: null, completed_at: null, result: null },
  ...changes,
});

/** `{ b: ["a"] }`: b needs a. */
const waiting = (needs: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(needs).map(([id, on]) => [id, aNode({ depends_on: [...on] })]));

const aGraph = (node_states: Graph["node_states"], current_batch = 1): Graph => ({
  ...{ graph_id: "GRAPH-1", completed_batches: [], current_batch, node_states },
});

describe("the batches of a graph", () => {
  it("have in each what needs only batches before it", () => {
    const nodes = waiting({ docs: ["build", "design"], build: ["design"], design: [], lint: [] });
    expect(pendingBatches(nodes)).toEqual([["design", "lint"], ["build"], ["docs"]]);
  });

  it("leave out what is over, and what it was needed for can begin", () => {
    const nodes = {
      ...waiting({ build: ["design", "plan"], test: ["build"] }),
      ...{ design: aNode({ status: "complete" }), plan: aNode({ status: "skipped" }) },
    };
    expect(pendingBatches(nodes)).toEqual([["build"], ["test"]]);
  });

  it("take up again what was running", () => {
    expect(pendingBatches({ build: aNode({ status: "running" }) })).toEqual([["build"]]);
  });

  it("count a need that is named twice once", () => {
    expect(pendingBatches(waiting({ a: [], b: ["a", "a"] }))).toEqual([["a"], ["b"]]);
  });
});

describe("a task that can never be done", () => {
  it.each([
    ["needs one that needs it", waiting({ a: ["b"], b: ["a"], free: [] }), ["a", "b"]],
    ["needs itself", waiting({ a: ["a"] }), ["a"]],
    ["needs one that is missing", waiting({ a: ["nobody"], b: ["a"] }), ["a", "b"]],
    ["needs a name that every object has", waiting({ a: ["constructor"], b: ["__proto__"] }), ["a", "b"]],
    ["needs one that failed", { ...waiting({ a: ["x"] }), x: aNode({ status: "failed" }) }, ["a"]],
  ])("%s", (_, nodes, blocked) => {
    expect(blockedTasks(nodes)).toEqual(blocked);
  });
});

describe("a graph that is taken up again", () => {
  const status = fc.constantFrom<Node["status"]>("pending", "running", "complete", "failed", "skipped");
  const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
  const nodes = fc.dictionary(
    id,
    fc.record({ status, depends_on: fc.array(id, { maxLength: 3 }) }).map((given) => aNode(given)),
  );

  it("keeps what is complete, and does again only what was running", () => {
    fc.assert(
      fc.property(nodes, (given) => {
        for (const [name, node] of Object.entries(restoreGraph(aGraph(given)).node_states)) {
          const before = given[name]?.status;
          expect(node.status).toBe(before === "running" ? "pending" : before);
        }
      }),
    );
  });

  it("has each open task in one batch or blocked, after all it needs", () => {
    fc.assert(
      fc.property(nodes, (given) => {
        const batches = pendingBatches(given);
        const open = Object.keys(given).filter((name) => /pending|running/.test(given[name]?.status ?? ""));
        expect([...batches.flat(), ...blockedTasks(given)].sort()).toEqual(open.sort());
        const over = new Set(
          Object.keys(given).filter((name) => /complete|skipped/.test(given[name]?.status ?? "")),
        );
        for (const batch of batches) {
          for (const name of batch)
            expect(given[name]?.depends_on.every((need) => over.has(need))).toBe(true);
          for (const name of batch) over.add(name);
        }
      }),
    );
  });

  it("goes on at the first open task of its batch", () => {
    expect(resumePoint(aGraph({ a: aNode() }, 3))).toBe("batch_3_task_1");
    expect(resumePoint(aGraph({ a: aNode({ status: "complete" }) }, 3))).toBeNull();
  });
});

describe("a large graph", () => {
  const chain = (size: number) =>
    waiting(
      Object.fromEntries(Array.from({ length: size }, (_, n) => [`t${n}`, n === 0 ? [] : [`t${n - 1}`]])),
    );
  const hub = (size: number) =>
    waiting(Object.fromEntries(Array.from({ length: size }, (_, n) => [`t${n}`, n === 0 ? [] : ["t0"]])));

  const fastest = (work: () => void) => {
    const times = Array.from({ length: 9 }, () => {
      const began = performance.now();
      work();
      return performance.now() - began;
    });
    return Math.min(...times);
  };

  it.each([
    ["a chain", chain],
    ["one that all others wait for", hub],
  ])("of %s takes time in step with its size", (_, make) => {
    const [small, large] = [make(1_000), make(10_000)];
    expect(blockedTasks(large)).toEqual([]);
    const ratio = fastest(() => pendingBatches(large)) / fastest(() => pendingBatches(small));
    // Ten times the tasks: 10 in step, 100 by the square; a busy machine lies in between.
    expect(ratio).toBeLessThan(40);
  });
});
