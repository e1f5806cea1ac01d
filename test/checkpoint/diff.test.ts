import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CheckpointDiff, compareCheckpoints } from "../../src/checkpoint/diff.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { aGateResult } from "../builders.js";
import { anArtifact, aRun, at, contents } from "./a-run.js";

const { first, specified, claimed, failed, done } = aRun();
const run = [first, specified, claimed, failed, done];

/** The later checkpoint of a pair of which only this differs. */
const withChange = (change: Partial<Checkpoint>): CheckpointDiff["parts"] =>
  compareCheckpoints(done, { ...done, sequence: done.sequence + 1, ...change }).parts;

/** The names of the parts that say something. */
const told = ({ parts }: CheckpointDiff) =>
  Object.entries(parts).flatMap(([name, part]) =>
    part === null || (Array.isArray(part) && part.length === 0) ? [] : name,
  );

describe("two checkpoints", () => {
  it("are the same when they are one, and nothing is told", () => {
    const diff = compareCheckpoints(done, done);
    expect(diff).toMatchObject({ isSame: true, isSwapped: false, elapsedMs: 0, trigger: null });
    expect(told(diff)).toEqual([]);
  });

  it("are the same when a person saved what was there already", () => {
    const saved = { ...done, checkpoint_id: "CP-implementing-20250114-beef", sequence: 9 };
    const diff = compareCheckpoints(done, { ...saved, trigger: "manual", note: "before lunch" });
    expect(diff.isSame).toBe(true);
    expect(diff.trigger).toEqual({ before: "phase_transition", after: "manual" });
  });

  it("are told forwards in time, whichever is named first", () => {
    const turned = {
      notes: { builder: { before: contents.notes.builder.after, after: contents.notes.builder.before } },
    };
    const forwards = compareCheckpoints(failed, done, { notes: contents.notes });
    const backwards = compareCheckpoints(done, failed, turned);
    expect(backwards).toEqual({ ...forwards, isSwapped: true });
    expect(forwards.older.checkpoint_id).toBe(failed.checkpoint_id);
    expect(forwards.elapsedMs).toBe(5 * 60_000);
  });

  it("have the order of their chain, also when clocks went wrong", () => {
    const early = { ...done, created_at: "2020-01-01T00:00:00.000Z" };
    const diff = compareCheckpoints(failed, early);
    expect([diff.isSwapped, diff.elapsedMs]).toEqual([false, 0]);
  });

  it("tell only what differs", () => {
    expect(told(compareCheckpoints(specified, claimed))).toEqual([
      "phase",
      "outcome",
      "durationMs",
      "phases",
    ]);
  });
});

describe("a phase that failed and was done again", () => {
  const { parts } = compareCheckpoints(failed, done, contents);

  it("shows its version, outcome and the error that is gone", () => {
    expect(parts).toMatchObject({
      ...{ phase: null, attempt: null, version: { before: 1, after: 2 } },
      outcome: { before: "failed", after: "succeeded" },
      error: { before: { code: "gate_failed" }, after: null },
    });
    expect(parts.phases).toEqual([
      {
        name: "implementing",
        before: "failed",
        after: "succeeded",
        attempt: null,
        version: { before: 1, after: 2 },
      },
    ]);
  });

  it("shows the gates that say something else, and not those that only ran again", () => {
    expect(parts.gates).toMatchObject([
      { name: "tests", kind: "newly_passed", before: "failed", details: null },
    ]);
  });

  it("shows how the issue drifted", () => {
    expect(parts.title).toBeNull();
    expect(parts.body?.unified).toContain("+- [ ] a switch in the settings");
    expect(parts.labels).toEqual({ added: ["state:implementing", "a11y"], removed: ["state:enrich"] });
    expect(parts.assignees).toEqual({ added: ["octocat"], removed: [] });
  });

  it("shows files by content, with their size", () => {
    expect(parts.artifacts.map(({ path, kind, sizeDelta }) => [path, kind, sizeDelta])).toEqual([
      ["spec.md", "changed", 50],
      ["screens/dark.svg", "added", 6],
    ]);
    expect(parts.artifacts[0]?.diff).toMatchObject({ added: 3, removed: 2 });
    expect(parts.artifacts[1]?.diff).toBeNull();
    expect(parts.notes).toMatchObject([
      { agent: "builder", kind: "changed", diff: { added: 2, removed: 1 } },
    ]);
    expect(parts.files.map(({ path }) => path)).toEqual(["src/charts/palette.ts", "src/settings.ts"]);
    expect(parts.headSha).toEqual({ before: "a".repeat(40), after: "b".repeat(40) });
  });

  it("shows what it used, by agent and in all", () => {
    expect(parts.tokens).toEqual({
      input: { before: 69_600, after: 127_100, delta: 57_500 },
      output: { before: 11_900, after: 23_400, delta: 11_500 },
      total: { before: 81_500, after: 150_500, delta: 69_000 },
      byAgent: [{ agent: "builder", input: 57_500, output: 11_500 }],
    });
  });

  it("shows which criteria are met now", () => {
    expect(parts.criteria).toEqual([{ name: "charts are readable", before: false, after: true }]);
  });
});

describe("a difference", () => {
  it("of gates puts those that fail first, with why", () => {
    const quality_gates = [
      aGateResult({ name: "new" }),
      aGateResult({ status: "failed", summary: "exit code 1", details: "Ended.\n\n```text\nboom\n```" }),
    ];
    const { gates } = withChange({
      governance_results: { quality_gates, compliance_checks: [], passed: false },
    });
    expect(gates.map(({ name, kind }) => [name, kind])).toEqual([
      ["tests", "newly_failed"],
      ["new", "newly_passed"],
      ["lint", "changed"],
    ]);
    expect(gates[0]?.details).toBe("Ended.\n\nboom");
  });

  it("of two phases' gates of one name is told apart", () => {
    const quality_gates = [...done.governance_results.quality_gates, aGateResult({ phase: "validation" })];
    const { gates } = withChange({ governance_results: { ...done.governance_results, quality_gates } });
    expect(gates).toMatchObject([{ phase: "validation", kind: "newly_passed", before: null }]);
  });

  it("of cost is known only where both know it", () => {
    const cost = (older: Checkpoint["metadata"], newer: Checkpoint["metadata"]) =>
      compareCheckpoints({ ...failed, metadata: older }, { ...done, metadata: newer }).parts.costUsd;
    expect(cost({ cost_usd: 1 }, { cost_usd: 2.5 })).toEqual({ before: 1, after: 2.5, delta: 1.5 });
    expect(cost({}, { cost_usd: 2.5 })).toBeNull();
    expect(cost({ cost_usd: "1" }, { cost_usd: 2.5 })).toBeNull();
  });

  it("of tasks has new ones, moved ones and those that are gone", () => {
    const task = (status: "pending" | "complete") => ({
      ...{ status, depends_on: [], agent: "builder", started_at: null, completed_at: null, result: null },
    });
    const graph = done.execution_graph;
    const older = {
      ...done,
      execution_graph: { ...graph, node_states: { a: task("pending"), x: task("pending") } },
    };
    const newer = {
      ...done,
      sequence: 99,
      execution_graph: { ...graph, node_states: { a: task("complete"), b: task("pending") } },
    };
    expect(compareCheckpoints(older, newer).parts.tasks).toEqual([
      { id: "a", agent: "builder", before: "pending", after: "complete" },
      { id: "b", agent: "builder", before: null, after: "pending" },
      { id: "x", agent: "builder", before: "pending", after: null },
    ]);
  });

  it("of code lists all files of another phase's work, also those that both changed", () => {
    const { files } = withChange({
      ...at("validation"),
      issue_snapshot: { ...done.issue_snapshot, head_sha: "c".repeat(40) },
      files_modified: done.files_modified.slice(0, 1),
    });
    expect(files).toEqual([{ path: "src/theme.ts", before: null, after: "added" }]);
  });

  it("of notes that no checkpoint names is found in what was read", () => {
    const read = { tester: { before: null, after: "look here" }, idle: { before: "same", after: "same\n" } };
    const { notes } = compareCheckpoints(failed, { ...done, notes: failed.notes }, { notes: read }).parts;
    expect(notes).toMatchObject([{ agent: "tester", kind: "added" }]);
  });

  it("of a file that could be read on one side only has no diff", () => {
    const read = { "spec.md": { before: null, after: "text" } };
    const [spec] = compareCheckpoints(failed, done, { artifacts: read }).parts.artifacts;
    expect(spec).toMatchObject({ path: "spec.md", kind: "changed", diff: null });
  });

  it("of a run that was started afresh is told", () => {
    const orchestrator_state = { ...done.orchestrator_state, run_id: "RUN-2" };
    expect(withChange({ orchestrator_state }).run?.after).toBe("RUN-2");
  });

  it("of an agent with a name that every object has is seen", () => {
    const agent_outputs = {
      constructor: {
        toString: { completed_at: done.created_at, output_summary: "odd", output_location: null },
      },
    };
    const { outputs } = withChange({ agent_outputs: { ...done.agent_outputs, ...agent_outputs } });
    expect(outputs).toEqual([{ agent: "constructor", task: "toString", before: null, after: "odd" }]);
  });
});

describe("any comparison", () => {
  const path = fc.constantFrom("a.md", "b.md", "constructor");
  const any = fc
    .record({
      base: fc.constantFrom(...run),
      artifacts: fc.dictionary(path, fc.constantFrom("1", "2")),
      labels: fc.array(fc.constantFrom("x", "y", "z")),
      body: fc.string(),
      sequence: fc.integer({ min: 1, max: 9 }),
    })
    .map(({ base, artifacts, labels, body, sequence }): Checkpoint => {
      const named = Object.entries(artifacts).map(([key, text]) => [key, anArtifact(key, text)]);
      const issue_snapshot = { ...base.issue_snapshot, labels, body };
      return { ...base, sequence, issue_snapshot, artifacts: Object.fromEntries(named) };
    });

  it("of a checkpoint with itself finds nothing", () => {
    fc.assert(fc.property(any, (one) => compareCheckpoints(one, one).isSame));
  });

  it("is data that survives JSON", () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        const diff = compareCheckpoints(a, b);
        expect(JSON.parse(JSON.stringify(diff))).toEqual(diff);
      }),
    );
  });

  it("finds the same in both orders", () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        fc.pre(a.sequence !== b.sequence);
        const { isSwapped, ...forwards } = compareCheckpoints(a, b);
        expect(compareCheckpoints(b, a)).toEqual({ ...forwards, isSwapped: !isSwapped });
      }),
    );
  });
});
