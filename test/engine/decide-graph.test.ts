import { describe, expect, it } from "vitest";
import type { RunState } from "../../src/checkpoint/run-event.js";
import { decide } from "../../src/engine/decide.js";
import type { Situation } from "../../src/engine/situation.js";
import { createWorkflow, type Workflow } from "../../src/workflow/workflow.js";
import { aCheckpoint, anIssue, type Statuses } from "../builders.js";

const workflow = createWorkflow({
  ...{ name: "team", first: "start", initial: {}, maxVisits: 100, snapshotEvery: 1_000 },
  phases: {
    start: { type: "agent", does: "", next: ["ask", "flaky"] },
    ask: { type: "human", does: "", ask: { type: "approval", prompt: "Fine?" }, next: ["join"] },
    flaky: { type: "agent", does: "", next: ["join"] },
    join: { type: "agent", does: "", next: ["end"] },
    end: { type: "terminal" },
  },
});

const asked: RunState["questions"] = {
  ask: {
    question: {
      ...{ type: "approval", prompt: "Fine?", choices: ["approve", "reject"], needed: 1, purpose: "phase" },
      ...{ expires_at: null, on_timeout: null },
    },
    asked_at: "2025-01-14T10:00:00.000Z",
    answers: [],
  },
};
const yes = { response: "approve", by: "mona", at: "2025-01-14T10:30:00.000Z" };
const asleep = (until: string) => ({
  ...({ status: "pending", due: true, retries: 1, retry_at: until, attempt: 0, version: 1 } as const),
});

const started = { kind: "started", issue: 42, key: "k" } as const;
const said = (command: Extract<Situation["event"], { kind: "command" }>["command"]) =>
  ({ kind: "command", command, issue: 42, key: "k", actor: "mona", commentId: 1 }) as const;

function situation(
  event: Situation["event"],
  phases: Statuses,
  questions: RunState["questions"],
  more: Partial<Situation> = {},
): Situation {
  const { workflow: own = workflow } = more;
  const latest = { ...aCheckpoint({ phases, workflow: own }), run_state: { state: {}, questions } };
  return {
    ...{
      event,
      latest,
      workflow,
      advance: "auto",
      maxAttempts: 3,
      hasAgent: () => true,
      permission: "write",
    },
    ...{ isHeld: false, obstacle: null, freshness: null, isAsked: false, movedTo: null },
    issue: anIssue({ labels: ["state:ask"], isOpen: true }),
    now: new Date("2025-01-14T12:00:00Z"),
    ...more,
  };
}

describe("a phase that waits for its next try beside one that asks", () => {
  const phases = (until: string): Statuses => ({ start: "succeeded", ask: "waiting", flaky: asleep(until) });
  it("begins when its time has come, though nobody has answered", () => {
    const due = phases("2025-01-14T11:00:00.000Z");
    expect(decide(situation(started, due, asked))).toMatchObject({ kind: "proceed" });
  });

  it("waits until then, unless a person says /crunch", () => {
    const later = phases("2025-01-14T13:00:00.000Z");
    expect(decide(situation(started, later, asked))).toEqual({ kind: "wait", reason: "person" });
    expect(decide(situation(said({ name: "run" }), later, asked))).toMatchObject({
      kind: "proceed",
      phases: { flaky: { retry_at: "2025-01-14T12:00:00.000Z" } },
    });
  });
});

describe("an answer", () => {
  const phases: Statuses = { start: "succeeded", ask: "waiting", flaky: "succeeded" };
  const id = "CP-ask-20250114-aaaa";
  const bound = { ask: { ...asked.ask, checkpoint_id: id } } as RunState["questions"];
  const approve = (checkpoint: string | null) => said({ name: "approve", checkpoint });

  it("that was written down while another phase was at work is carried out by /crunch", () => {
    const noted = { ask: { ...asked.ask, answers: [yes] } } as RunState["questions"];
    expect(decide(situation(said({ name: "run" }), phases, noted))).toMatchObject({ kind: "proceed" });
  });

  it("counts for the checkpoint that asked, and for no other", () => {
    expect(decide(situation(approve(id), phases, bound))).toMatchObject({ kind: "approve", phase: "ask" });
    expect(decide(situation(approve(null), phases, bound))).toMatchObject({ kind: "approve" });
    const other = decide(situation(approve("CP-ask-20250114-bbbb"), phases, bound));
    expect(other).toMatchObject({ kind: "refuse", code: "nothing_asked" });
  });

  it("of somebody without write access does not count, nor a second one of the same person", () => {
    const outsider = situation(approve(id), phases, bound, { permission: "triage" });
    expect(decide(outsider)).toMatchObject({ kind: "refuse", code: "no_permission" });
    const again = { ask: { ...bound.ask, answers: [yes] } } as RunState["questions"];
    expect(decide(situation(approve(id), phases, again))).toMatchObject({ code: "not_an_answer" });
  });

  it("while a session works is written down, but not where the issue has changed since", () => {
    const held = situation(approve(id), phases, bound, { isHeld: true });
    expect(decide(held)).toMatchObject({ kind: "note", phase: "ask", response: "approve", by: "mona" });
    const changed = { kind: "body_changed", severity: "question", action: "prompt_user" } as const;
    const findings = [{ ...changed, message: "x", diff: null }];
    const freshness = { canResume: true, action: "prompt_user", findings } as const;
    expect(decide({ ...held, freshness })).toMatchObject({ kind: "refuse", code: "not_an_answer" });
  });

  it("to a phase that the workflow no longer has is refused", () => {
    const { ask: _, ...rest } = workflow.phases;
    const start = { type: "agent", does: "", next: ["flaky"] } as const;
    const without: Workflow = createWorkflow({ ...workflow, phases: { ...rest, start } });
    const given = situation(approve(id), { start: "succeeded", flaky: "succeeded" }, bound, {
      workflow: without,
    });
    expect(decide(given)).toMatchObject({ kind: "refuse", code: "nothing_asked" });
  });
});

it("by hand, the label of any phase that can begin begins them", () => {
  const both = createWorkflow({
    ...workflow,
    phases: { ...workflow.phases, ask: { type: "agent", does: "", next: ["join"] } },
  });
  const label = { kind: "labeled", label: "state:flaky", issue: 42, key: "k", actor: "mona" } as const;
  const issue = anIssue({ labels: ["state:start", "state:flaky"], isOpen: true });
  const given = situation(label, { start: "succeeded" }, {}, { workflow: both, advance: "manual", issue });
  expect(decide(given)).toMatchObject({ kind: "run" });
});
