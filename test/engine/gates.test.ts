import { describe, expect, it } from "vitest";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { defaultRetention } from "../../src/checkpoint/retention.js";
import { defaultCheckpointConfig } from "../../src/config/checkpoint-config.js";
import { evaluateGates, gatesAfter, mergeResults } from "../../src/engine/gates.js";
import type { Plan } from "../../src/engine/plan.js";
import type { Gate, GateContext } from "../../src/gates/gate.js";
import type { Clock } from "../../src/ports.js";
import { aGateResult, clock, phasesWith, unattended } from "../builders.js";

function aGate(name: string, phase: string, evaluate: Gate["evaluate"] = async () => verdict): Gate {
  return { name, type: "command", phase, timeoutMs: 0, evaluate };
}
const verdict = { status: "passed", summary: "fine", details: "All is fine." } as const;

const spec = aGate("spec", "enrich");
const tests = aGate("tests", "implementing");
const lint = aGate("lint", "validation");
const withGates = (...gates: Gate[]) => ({ agent: null, writes: ["**"], gates });
const plan: Plan = {
  workflow: unattended,
  advance: "auto",
  maxAttempts: 3,
  branch: "feature/issue-42",
  protectedPaths: [],
  checkpoints: defaultCheckpointConfig.triggers,
  layout: defaultLayout,
  isCompressed: false,
  maxPutBytes: 50 * 1024 * 1024,
  retention: defaultRetention,
  phases: { enrich: withGates(spec), implementing: withGates(tests), validation: withGates(lint) },
};
const context: GateContext = {
  directory: "/nowhere",
  outputs: new Map(),
  notes: new Map(),
  commands: { run: () => Promise.reject(new Error("no command is run here")) },
  signal: new AbortController().signal,
};

function aClockThatMoves(ms: number): Clock {
  let time = 10_000;
  return {
    now() {
      time += ms;
      return new Date(time);
    },
  };
}

describe("the gates after a phase", () => {
  const phases = phasesWith({ enrich: "succeeded", implementing: "succeeded", validation: "running" });

  it("are its own when the code is as it was", () => {
    expect(gatesAfter(plan, "validation", phases, false)).toEqual([lint]);
  });

  it("are also those of the phases before when the code changed, for they judged other code", () => {
    expect(gatesAfter(plan, "validation", phases, true)).toEqual([spec, tests, lint]);
  });

  it("leave out phases that were skipped or have not run yet", () => {
    const jumped = phasesWith({ enrich: "skipped", implementing: "running" });
    expect(gatesAfter(plan, "implementing", jumped, true)).toEqual([tests]);
  });

  it("are none for a phase without any", () => {
    expect(gatesAfter(plan, "docs", phases, false)).toEqual([]);
  });
});

describe("evaluating gates", () => {
  it("gives each gate's verdict with its name, phase and time", async () => {
    expect(await evaluateGates([spec, tests], context, aClockThatMoves(250))).toEqual([
      { name: "spec", type: "command", phase: "enrich", ...verdict, duration_ms: 250 },
      { name: "tests", type: "command", phase: "implementing", ...verdict, duration_ms: 250 },
    ]);
  });

  it("takes a gate that throws for failed, and goes on with the others", async () => {
    const broken = aGate("broken", "enrich", () => Promise.reject(new Error("disk full")));
    const [first, second] = await evaluateGates([broken, tests], context, clock);
    expect(first).toMatchObject({ status: "failed", details: "disk full" });
    expect(second).toMatchObject({ name: "tests", status: "passed" });
  });

  it("never has a negative time, even when the clock is set back", async () => {
    const [result] = await evaluateGates([spec], context, aClockThatMoves(-250));
    expect(result?.duration_ms).toBe(0);
  });
});

describe("the results of a run", () => {
  it("have the newest result of every gate, and keep those that were not computed again", () => {
    const before = [aGateResult({ name: "spec" }), aGateResult({ name: "tests", status: "failed" })];
    const merged = mergeResults(before, [aGateResult({ name: "tests", status: "passed" })]);
    expect(merged.map(({ name, status }) => `${name} ${status}`)).toEqual(["spec passed", "tests passed"]);
  });
});
