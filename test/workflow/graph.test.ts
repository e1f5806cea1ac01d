import { describe, expect, it } from "vitest";
import type { PhaseState } from "../../src/checkpoint/schema.js";
import { consensusOf } from "../../src/workflow/consensus.js";
import { orderOf, type PhaseGraph } from "../../src/workflow/graph.js";
import { readiness } from "../../src/workflow/readiness.js";
import { retryDelay } from "../../src/workflow/retry.js";

const graph: PhaseGraph = {
  first: "plan",
  nodes: {
    plan: { kind: "fixed", to: ["data", "arch"] },
    data: { kind: "fixed", to: ["join"] },
    arch: { kind: "choice", to: ["join", "security"] },
    security: { kind: "fixed", to: ["join"] },
    join: { kind: "choice", to: ["done", "plan"] },
    done: { kind: "terminal", to: [] },
  },
};
const at = (status: PhaseState["status"], more: Partial<PhaseState> = {}): PhaseState => ({
  ...{ status, attempt: 0, version: 0, checkpoint_id: null },
  ...more,
});
const all = (changes: Record<string, PhaseState>) => ({
  ...Object.fromEntries(Object.keys(graph.nodes).map((name) => [name, at("pending")])),
  ...changes,
});
const now = new Date("2025-01-14T10:00:00Z");
const ready = (changes: Record<string, PhaseState>) => readiness(graph, all(changes), now).ready;

describe("the order of a graph", () => {
  it("has each phase after those that lead to it, and knows what leads back", () => {
    const { names, isBack, before, after } = orderOf(graph);
    expect(names.indexOf("join")).toBeGreaterThan(names.indexOf("security"));
    expect(isBack("join", "plan")).toBe(true);
    expect(isBack("arch", "join")).toBe(false);
    expect(before.get("plan")).toEqual([]);
    expect([...(before.get("join") ?? [])].sort()).toEqual(["arch", "data", "security"]);
    expect([...after("data")].sort()).toEqual(["done", "join"]);
  });

  it("is found for a line of many thousands", () => {
    const nodes = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { kind: "fixed", to: [`p${index + 1}`] }]),
    );
    const long = { first: "p0", nodes: { ...nodes, p20000: { kind: "terminal", to: [] } } } as PhaseGraph;
    expect(orderOf(long).names).toHaveLength(20_001);
  });
});

describe("what can begin", () => {
  it("is what is due, then what all lead to who have to", () => {
    expect(ready({ plan: at("pending", { due: true }) })).toEqual(["plan"]);
    expect([...ready({ plan: at("succeeded") })].sort()).toEqual(["arch", "data"]);
    expect(ready({ plan: at("succeeded"), data: at("succeeded"), arch: at("running") })).toEqual([]);
  });

  it("does not wait for what was passed by", () => {
    const chosen = {
      plan: at("succeeded"),
      data: at("succeeded"),
      arch: at("succeeded", { next: ["join"] }),
    };
    expect(ready(chosen)).toEqual(["join"]);
    const other = { ...chosen, arch: at("succeeded", { next: ["security"] }) };
    expect(ready(other)).toEqual(["security"]);
    expect(ready({ ...other, security: at("skipped") })).toEqual(["join"]);
  });

  it("waits for what failed, and for the time of the next try", () => {
    expect(
      ready({ plan: at("succeeded"), data: at("failed"), arch: at("succeeded", { next: ["join"] }) }),
    ).toEqual([]);
    const retry = { plan: at("pending", { due: true, retry_at: "2025-01-14T10:00:01.000Z" }) };
    expect(readiness(graph, all(retry), now)).toEqual({
      ready: [],
      sleeping: [{ phase: "plan", until: "2025-01-14T10:00:01.000Z" }],
    });
    expect(readiness(graph, all(retry), new Date("2025-01-14T10:00:01Z")).ready).toEqual(["plan"]);
  });
});

describe("the wait before a retry", () => {
  const policy = { strategy: "retry", maxRetries: 9, delayMs: 1_000, jitter: 0 } as const;
  const waits = (more: object) =>
    [0, 1, 2, 3].map((retries) => retryDelay({ ...policy, ...more }, retries, () => 0.5));

  it.each([
    ["fixed", {}, [1_000, 1_000, 1_000, 1_000]],
    ["exponential", { backoff: "exponential" }, [1_000, 2_000, 4_000, 8_000]],
    ["capped", { backoff: "exponential", maxDelayMs: 3_000 }, [1_000, 2_000, 3_000, 3_000]],
  ])("is %s", (_, more, expected) => {
    expect(waits(more)).toEqual(expected);
  });

  it("is left to chance in part, and never longer than its cap", () => {
    const wait = (random: number, more = {}) =>
      retryDelay({ ...policy, jitter: 0.2, ...more }, 0, () => random);
    expect([wait(0), wait(0.5), wait(1)]).toEqual([800, 1_000, 1_200]);
    expect(wait(1, { maxDelayMs: 1_000 })).toBe(1_000);
    expect(retryDelay({ ...policy, backoff: "exponential" }, 5_000, () => 1)).toBe(3_600_000);
  });
});

describe("a consensus", () => {
  const votes = (...given: ("approve" | "reject" | "abstain")[]) =>
    Object.fromEntries(given.map((vote, index) => [`v${index}`, { vote }]));

  it.each([
    ["of all", votes("approve", "approve"), {}, true],
    ["of more than half", votes("approve", "approve", "reject"), {}, true],
    ["of half", votes("approve", "reject"), {}, false],
    ["of those who did not abstain", votes("approve", "abstain", "abstain"), {}, true],
    ["of nobody", votes("abstain"), {}, false],
    ["with too few for the quorum", votes("approve", "abstain"), { quorum: 2 }, false],
    ["with a veto", votes("approve", "approve", "reject"), { veto: ["v2"] }, false],
    ["with a no of one who has none", votes("approve", "approve", "reject"), { veto: ["v0"] }, true],
    ["where anybody may say no", votes("approve", "approve", "reject"), { veto: "anybody" as const }, false],
  ])("%s", (_, given, rule, approved) => {
    expect(consensusOf(given, rule).approved).toBe(approved);
  });
});
