import { describe, expect, it } from "vitest";
import type { PhaseStatus } from "../../src/checkpoint/schema.js";
import {
  agentPhase,
  consensusPhase,
  defineWorkflow,
  humanPhase,
  tasksPhase,
  terminalPhase,
} from "../../src/index.js";
import { renderWorkflowPicture } from "../../src/render/workflow-picture.js";

it("a workflow's picture has a box for each phase by its kind, and an arrow for each way", () => {
  const run = () => null;
  const workflow = defineWorkflow({})({
    name: "all",
    first: "plan",
    phases: {
      plan: agentPhase({ does: 'says "what" & <how> #1', run, next: ["build", "ask"] }),
      build: tasksPhase({ tasks: { a: { run } }, next: "vote" }),
      ask: humanPhase({ human: { type: "text", prompt: "?" }, onResponse: () => {}, next: "vote" }),
      vote: consensusPhase({ voters: { a: () => ({ vote: "approve" }) }, next: "end", otherwise: "plan" }),
      end: terminalPhase(),
    },
  });
  expect(renderWorkflowPicture(workflow)).toBe(`flowchart TD
  p0["plan<br/>says #34;what#34; #38; #60;how#62; #35;1"]
  p1[["build"]]
  p2{{"ask"}}
  p3{"vote"}
  p4(["end"])
  p0 --> p1
  p0 --> p2
  p1 --> p3
  p2 --> p3
  p3 -.-> p4
  p3 -.-> p0`);
});

describe("the picture of a run", () => {
  const statuses: readonly PhaseStatus[] = [
    "succeeded",
    "running",
    "waiting",
    "skipped",
    "failed",
    "pending",
  ];
  const names = statuses.map((status) => `the-${status}`);
  const line = {
    graph: {
      first: "the-succeeded",
      nodes: Object.fromEntries(
        names.map((name, at) => {
          const to = names.slice(at + 1, at + 2);
          return [name, { kind: to.length > 0 ? "fixed" : "terminal", to }] as const;
        }),
      ),
    },
    phases: Object.fromEntries(names.map((name) => [name, { type: "agent", does: "works" }])),
  };

  it("marks each phase, colours it, and does not say what it does", () => {
    const byName = Object.fromEntries(statuses.map((status) => [`the-${status}`, status]));
    const picture = renderWorkflowPicture(line, byName);
    expect(picture.split("\n").slice(1, 7)).toEqual([
      '  p0["✅ the-succeeded"]',
      '  p1["⏳ the-running"]',
      '  p2["✋ the-waiting"]',
      '  p3["➖ the-skipped"]',
      '  p4["❌ the-failed"]',
      '  p5["▫️ the-pending"]',
    ]);
    for (const [at, status] of statuses.entries()) {
      expect(picture).toContain(`\n  class p${at} ${status}`);
      expect(picture).toMatch(new RegExp(`\\n  classDef ${status} fill:\\S+,stroke:#`));
    }
  });

  it("defines only the classes it uses, once each, and has a phase nobody spoke of as pending", () => {
    const picture = renderWorkflowPicture(line, { "the-succeeded": "succeeded", "the-running": "succeeded" });
    expect(picture.split("\n").filter((each) => each.includes("class"))).toEqual([
      "  classDef succeeded fill:#1a7f37,stroke:#1a7f37,color:#fff",
      "  class p0,p1 succeeded",
      "  classDef pending fill:#818b9833,stroke:#818b98",
      "  class p2,p3,p4,p5 pending",
    ]);
  });

  it("has a dashed box for a phase that the workflow leaves out, also before there is a run", () => {
    const [first = ""] = names;
    const phases = { ...line.phases, [first]: { type: "agent", does: "works", skip: "not here" } };
    const picture = renderWorkflowPicture({ ...line, phases });
    expect(picture).toContain('p0["the-succeeded<br/>works"]');
    expect(picture.split("\n").slice(-2)).toEqual([
      "  classDef skipped fill:transparent,stroke:#818b98,stroke-dasharray:5 5",
      "  class p0 skipped",
    ]);
  });
});
