import { expect, it } from "vitest";
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
