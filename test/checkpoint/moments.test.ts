import { describe, expect, it } from "vitest";
import { emptyRun, firstCheckpoint, nextCheckpoint } from "../../src/checkpoint/create.js";
import { changeFor, firstChange } from "../../src/checkpoint/moments/index.js";
import type { Moment, Task } from "../../src/checkpoint/moments/moment.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { aCheckpoint, aGateResult, aMaker, now, phasesWith } from "../builders.js";
import { anArtifact } from "./a-run.js";

const time = now.toISOString();
const maker = aMaker();
const tasks = {
  design: { agent: "architect" },
  lint: { agent: "builder" },
  code: { agent: "builder", dependsOn: ["design"] },
  tests: { agent: "tester", dependsOn: ["code", "lint"] },
};

/** A run whose first phase, enrich, has just begun. */
function begun(planned: Readonly<Record<string, Task>> | null = tasks): Checkpoint {
  const { issue_snapshot: snapshot } = aCheckpoint();
  const run = emptyRun({
    ...{ issue: 42, workflow: "crunch", phase: "enrich", phases: phasesWith({}), snapshot },
    ...{ startedBy: "octocat", maker },
  });
  const moment = { trigger: "phase_start", phase: "enrich", ...(planned && { tasks: planned }) } as const;
  return firstCheckpoint(run, firstChange(run, moment, time), maker);
}

/** The checkpoint after these moments. */
function following(start: Checkpoint, ...moments: readonly Moment[]): Checkpoint {
  return moments.reduce((latest, one) => nextCheckpoint(latest, changeFor(latest, one, time), maker), start);
}

const did = (...ids: readonly string[]) =>
  Object.fromEntries(ids.map((id) => [id, { summary: `did ${id}` }]));
const batch = (...ids: readonly string[]): Moment => ({ trigger: "batch_complete", tasks: did(...ids) });
const failure: Moment<"phase_failure"> = {
  trigger: "phase_failure",
  error: { code: "agent_failed", message: "The agent failed.", hint: "Try again." },
};
const refusal = (code: string) => expect.objectContaining({ name: "CrunchError", code });
const statuses = ({ execution_graph }: Checkpoint) =>
  Object.fromEntries(Object.entries(execution_graph.node_states).map(([id, { status }]) => [id, status]));
const phase = ({ orchestrator_state }: Checkpoint, name = "enrich") => orchestrator_state.phases[name];
const batches = ({ execution_graph: { completed_batches, current_batch } }: Checkpoint) => [
  completed_batches,
  current_batch,
];

describe("phase_start", () => {
  it("holds the plan of the phase, with what needs nothing running", () => {
    const start = begun();
    expect(start).toMatchObject({ type: "PRE", trigger: "phase_start", outcome: null, phase_version: 1 });
    expect(statuses(start)).toEqual({
      design: "running",
      lint: "running",
      code: "pending",
      tests: "pending",
    });
    expect(start.execution_graph.node_states.design).toMatchObject({ started_at: time, agent: "architect" });
    expect(phase(start)).toMatchObject({ status: "running", attempt: 1, version: 1 });
    expect(start.team_state.members).toEqual([
      { agent: "architect", role: "enrich", status: "active", tasks_completed: 0, tasks_pending: 1 },
      { agent: "builder", role: "enrich", status: "active", tasks_completed: 0, tasks_pending: 2 },
      { agent: "tester", role: "enrich", status: "waiting", tasks_completed: 0, tasks_pending: 1 },
    ]);
    expect(start.agent_states.tester?.status).toBe("pending");
    expect(start.recovery_info.resume_from).toBe("batch_1_task_1");
  });

  it("of a phase without tasks has one with its name", () => {
    expect(statuses(begun(null))).toEqual({ enrich: "running" });
  });

  it("after a crash is a further attempt, which does not do again what is complete", () => {
    const again = following(begun(), batch("design", "lint"), { trigger: "phase_start", phase: "enrich" });
    expect(phase(again)).toMatchObject({ status: "running", attempt: 2, version: 1 });
    expect(statuses(again)).toMatchObject({ design: "complete", code: "running", tests: "pending" });
    expect(batches(again)).toEqual([[1], 2]);
  });

  it("after a failure is a new version, which tries again what failed and knows why", () => {
    const again = following(begun(), batch("design", "lint"), failure, {
      trigger: "phase_start",
      phase: "enrich",
    });
    expect(phase(again)).toMatchObject({ attempt: 1, version: 2 });
    expect(again).toMatchObject({ phase_version: 2, metadata: { previous_error: "The agent failed." } });
    expect(statuses(again)).toMatchObject({ design: "complete", code: "running" });
  });

  it("may plan anew, and keeps what is complete under the same name", () => {
    const again = following(begun(), batch("design", "lint"), {
      ...{ trigger: "phase_start", phase: "enrich" },
      tasks: { design: {}, other: { dependsOn: ["design"] } },
    });
    expect(statuses(again)).toEqual({ design: "complete", other: "running" });
  });

  it.each([
    ["a phase that the run does not have", "nothing", "phase_unknown"],
    ["a phase whose turn it is not", "implementing", "phase_not_next"],
    ["the last phase, in which nothing runs", "done", "phase_not_next"],
  ])("of %s is refused", (_, name, code) => {
    expect(() => following(begun(), { trigger: "phase_start", phase: name })).toThrow(refusal(code));
  });

  it("of a phase that is over is refused", () => {
    const over = following(begun(null), { trigger: "phase_transition" });
    expect(() => following(over, { trigger: "phase_start", phase: "enrich" })).toThrow(refusal("phase_over"));
  });

  it.each([
    ["need each other", { a: { dependsOn: ["b"] }, b: { dependsOn: ["a"] } }],
    ["need a task that is not there", { a: { dependsOn: ["constructor"] } }],
  ])("with tasks that %s is refused", (_, planned) => {
    expect(() => begun(planned)).toThrow(refusal("graph_invalid"));
  });
});

describe("batch_complete", () => {
  it("moves on to the next batch, whose tasks are running then", () => {
    const one = following(begun(), batch("design", "lint"));
    expect(one).toMatchObject({ type: "PRE", trigger: "batch_complete", outcome: null });
    expect(batches(one)).toEqual([[1], 2]);
    expect(statuses(one)).toEqual({
      design: "complete",
      lint: "complete",
      code: "running",
      tests: "pending",
    });
    expect(one.recovery_info.resume_from).toBe("batch_2_task_1");
    const all = following(one, batch("code"), batch("tests"));
    expect(batches(all)).toEqual([[1, 2, 3], 3]);
    expect(all.recovery_info.resume_from).toBeNull();
  });

  it("holds what each agent spent, called, said and produced", () => {
    const invocation = { tool: "bash", at: time, summary: "npm test" };
    const report = {
      ...{ summary: "Chose the colours", outputLocation: "spec.md" },
      ...{ tokenUsage: { input: 10, output: 2 }, toolInvocations: [invocation] },
    };
    const one = following(begun(), { trigger: "batch_complete", tasks: { design: report, ...did("lint") } });
    expect(one.agent_states.architect).toEqual({
      ...{ status: "complete", token_usage: { input: 10, output: 2 }, tool_invocations: [invocation] },
      summary: "Chose the colours",
    });
    expect(one.agent_states.builder?.status).toBe("running");
    expect(one.agent_outputs.architect?.design).toEqual({
      ...{ completed_at: time, output_summary: "Chose the colours", output_location: "spec.md" },
    });
    expect(one.team_state.members).toContainEqual({
      ...{ agent: "builder", role: "enrich", status: "active", tasks_completed: 1, tasks_pending: 1 },
    });
    const more = following(one, {
      trigger: "batch_complete",
      tasks: { code: { ...report, agent: "architect" } },
    });
    expect(more.agent_states.architect?.token_usage).toEqual({ input: 20, output: 4 });
    expect(more.agent_states.architect?.tool_invocations).toHaveLength(2);
  });

  it("needs no report of what agent_complete has told", () => {
    const told = following(begun(), { trigger: "agent_complete", task: "design", report: { summary: "" } });
    expect(batches(following(told, batch("lint")))).toEqual([[1], 2]);
  });

  it("with a task that failed leaves what needs it blocked", () => {
    const one = following(begun(), {
      trigger: "batch_complete",
      tasks: { ...did("lint"), design: { status: "failed", summary: "no idea" } },
    });
    expect(statuses(one)).toMatchObject({ design: "failed", code: "pending" });
    expect(one.recovery_info).toMatchObject({ prerequisites_met: false });
    expect(one.agent_outputs.architect).toBeUndefined();
  });

  it.each([
    ["a task that is not in the graph", batch("nothing"), "task_unknown"],
    ["a name that every object has", batch("constructor"), "task_unknown"],
    ["a task that waits for another", batch("code"), "task_not_ready"],
    ["a task that waits for one of the same batch", batch("design", "lint", "code"), "task_not_ready"],
    ["only a part of the batch", batch("design"), "batch_open"],
    ["no task", batch(), "batch_open"],
  ])("of %s is refused", (_, moment, code) => {
    expect(() => following(begun(), moment)).toThrow(refusal(code));
  });

  it("is refused for a batch that has been reported, and when no phase runs", () => {
    const one = following(begun(), batch("design", "lint"));
    expect(() => following(one, batch("design", "lint"))).toThrow(refusal("task_not_ready"));
    expect(() => following(one, batch())).toThrow(refusal("batch_open"));
    expect(() => following(one, { trigger: "user_interrupt" }, batch("code"))).toThrow(
      refusal("phase_not_running"),
    );
  });
});

describe("agent_complete", () => {
  it("completes its task, and not the batch", () => {
    const one = following(begun(), {
      trigger: "agent_complete",
      task: "design",
      report: { summary: "done" },
    });
    expect(one).toMatchObject({ type: "PRE", trigger: "agent_complete", outcome: null });
    expect(statuses(one)).toMatchObject({ design: "complete", lint: "running", code: "pending" });
    expect(batches(one)).toEqual([[], 1]);
    expect(one.agent_states.architect?.status).toBe("complete");
  });

  it("of a task that is not ready is refused", () => {
    const moment: Moment = { trigger: "agent_complete", task: "code", report: { summary: "" } };
    expect(() => following(begun(), moment)).toThrow(refusal("task_not_ready"));
  });
});

describe("phase_transition", () => {
  it("ends the phase with its results", () => {
    const done = following(begun(null), {
      ...{ trigger: "phase_transition", durationMs: 5, qualityGates: [aGateResult()] },
      ...{ tasks: did("enrich"), artifacts: { "spec.md": anArtifact("spec.md", "text") } },
      ...{ knowledge: { captured: ["KE-1"] }, acceptanceCriteria: { "is dark": true } },
    });
    expect(done).toMatchObject({
      ...{ type: "POST", trigger: "phase_transition", outcome: "succeeded", duration_ms: 5 },
      ...{ acceptance_criteria: { "is dark": true }, knowledge_context: { captured_entries: ["KE-1"] } },
      governance_results: { passed: true, quality_gates: [{ name: "tests" }] },
      orchestrator_state: { completed_phases: ["enrich"] },
    });
    expect(done.artifacts["spec.md"]?.size_bytes).toBe(4);
    expect(statuses(done)).toEqual({ enrich: "complete" });
  });

  it("of the last phase with work ends the run", () => {
    const skip = (name: string): Moment => ({ trigger: "phase_transition", outcome: "skipped", phase: name });
    const over = following(
      begun(null),
      ...["enrich", "ready", "implementing", "validation", "docs"].map(skip),
    );
    expect(phase(over, "done")?.status).toBe("succeeded");
    expect(over).toMatchObject({ outcome: "skipped", recovery_info: { can_resume: false } });
    expect(over.workflow_state.current_phase).toBe("docs");
  });

  it.each([
    ["while tasks are open", begun(), {}, "tasks_open"],
    [
      "when a gate failed",
      begun(null),
      { qualityGates: [aGateResult({ status: "failed" })] },
      "gates_failed",
    ],
    ["when no phase runs", following(begun(null), { trigger: "phase_transition" }), {}, "phase_not_running"],
    ["after a stop", following(begun(null), { trigger: "session_end" }), {}, "phase_not_running"],
    ["as skipped, out of turn", begun(), { outcome: "skipped", phase: "docs" } as const, "phase_not_next"],
  ])("is refused %s", (_, start, more, code) => {
    expect(() => following(start, { trigger: "phase_transition", ...more })).toThrow(refusal(code));
  });
});

describe("phase_failure", () => {
  it("holds the error and what there is of the results", () => {
    const partial = { "spec.md": anArtifact("spec.md", "half") };
    const failed = following(begun(), { ...failure, artifacts: partial });
    expect(failed).toMatchObject({
      type: "POST",
      outcome: "failed",
      error: failure.error,
      artifacts: partial,
    });
    expect(failed.governance_results.passed).toBe(false);
    expect(statuses(failed)).toEqual({ design: "failed", lint: "failed", code: "pending", tests: "pending" });
    expect(phase(failed)?.status).toBe("failed");
    expect(failed.recovery_info.warnings).toContain("The agent failed.");
  });

  it("blames only the tasks that are named", () => {
    const tasks = { design: { status: "failed", summary: "no idea" } } as const;
    const failed = following(begun(), { ...failure, tasks });
    expect(statuses(failed)).toMatchObject({ design: "failed", lint: "pending" });
  });

  it("of a phase that does not run is refused", () => {
    expect(() => following(begun(), failure, failure)).toThrow(refusal("phase_not_running"));
  });
});

describe("conflicts", () => {
  const start: Moment = {
    trigger: "conflict_start",
    conflict: "CONF-1",
    about: "colours",
    between: ["a", "b"],
  };
  const resolved: Moment = { trigger: "conflict_resolved", conflict: "CONF-1", resolution: "blue" };

  it("are open from conflict_start, which a resume is warned of", () => {
    const open = following(begun(), start);
    expect(open).toMatchObject({ type: "PRE", acp_state: { conflicts_in_progress: ["CONF-1"] } });
    expect(open.metadata).toEqual({ conflict: { id: "CONF-1", about: "colours", between: ["a", "b"] } });
    expect(open.recovery_info).toMatchObject({ prerequisites_met: false, can_resume: true });
  });

  it("are closed by conflict_resolved, with how", () => {
    const closed = following(begun(), start, { ...start, conflict: "CONF-2" }, resolved);
    expect(closed.acp_state.conflicts_in_progress).toEqual(["CONF-2"]);
    expect(closed.metadata).toMatchObject({ conflict: { id: "CONF-1", resolution: "blue" } });
  });

  it("can be resolved after a stop, which stays one", () => {
    const closed = following(begun(), start, { trigger: "session_end" }, resolved);
    expect(closed).toMatchObject({ outcome: "interrupted", acp_state: { conflicts_in_progress: [] } });
  });

  it("are refused when they are open twice, not open, or of no phase that runs", () => {
    expect(() => following(begun(), start, start)).toThrow(refusal("conflict_open"));
    expect(() => following(begun(), resolved)).toThrow(refusal("conflict_not_open"));
    expect(() => following(begun(), { trigger: "session_end" }, start)).toThrow(refusal("phase_not_running"));
  });
});

describe("a stop", () => {
  const partialWork = [
    { path: "a.ts", mode: "100644", status: "added", hash: "a".repeat(64), size_bytes: 1 } as const,
  ];

  it.each(["user_interrupt", "session_end"] as const)(
    "by %s leaves nothing running, and nobody in charge",
    (trigger) => {
      const stopped = following(begun(), { trigger, partialWork });
      expect(stopped).toMatchObject({ type: "PRE", trigger, outcome: "interrupted", lease: null });
      expect(statuses(stopped)).toMatchObject({ design: "pending", lint: "pending" });
      expect(phase(stopped)).toMatchObject({ status: "pending", attempt: 1 });
      expect(stopped.agent_states.architect?.status).toBe("pending");
      const again = following(stopped, { trigger: "phase_start", phase: "enrich" });
      expect(again.partial_work).toEqual(partialWork);
    },
  );

  it("between two phases only saves", () => {
    const over = following(begun(null), { trigger: "phase_transition" }, { trigger: "session_end" });
    expect(over).toMatchObject({ type: "POST", outcome: "succeeded", trigger: "session_end" });
  });
});

describe("every_n_events", () => {
  it("keeps unfinished work and progress, and the phase goes on with them", () => {
    const progress = [{ at: time, message: "half of it", percent: 50 }];
    const saved = following(begun(), { trigger: "every_n_events", progress });
    expect(saved).toMatchObject({ type: "PRE", trigger: "every_n_events", outcome: null, progress });
    expect(following(saved, batch("design", "lint")).progress).toEqual(progress);
    expect(() => following(begun(), failure, { trigger: "every_n_events" })).toThrow(
      refusal("phase_not_running"),
    );
  });

  it("does not capture knowledge twice", () => {
    const pending: Moment = {
      trigger: "every_n_events",
      knowledge: { injected: ["KE-0"], pending: ["KE-1"] },
    };
    const saved = following(
      begun(),
      pending,
      { trigger: "every_n_events", knowledge: { captured: ["KE-1"] } },
      pending,
    );
    expect(saved.knowledge_context).toEqual({
      ...{ injected_entries: ["KE-0"], captured_entries: ["KE-1"], pending_captures: [] },
    });
  });

  it("holds the messages that are open now", () => {
    const messages = { pending: ["MSG-1"], awaiting: ["MSG-2"] };
    const saved = following(begun(), { trigger: "every_n_events", messages });
    expect(saved.acp_state).toMatchObject({ pending_messages: ["MSG-1"], awaiting_response: ["MSG-2"] });
  });
});

describe("manual", () => {
  it.each([
    ["a phase that runs", begun()],
    ["a phase that failed", following(begun(), failure)],
    ["a run that was paused", following(begun(), { trigger: "pause", pause: { kind: "rollback" } })],
  ])("of %s says again all that the one before said", (_, start) => {
    const saved = following(start, { trigger: "manual", note: "before lunch" });
    const own = ["checkpoint_id", "parent_checkpoint_id", "sequence", "trigger", "note"] as const;
    const rest = (checkpoint: Checkpoint) =>
      Object.fromEntries(Object.entries(checkpoint).filter(([key]) => !own.some((one) => one === key)));
    expect(saved.note).toBe("before lunch");
    expect(rest(saved)).toEqual(rest(start));
  });
});

describe("people", () => {
  const specified = following(begun(null), { trigger: "phase_transition" });
  const asking: Moment = { trigger: "before_human", phase: "ready", question: "Is this right?" };

  it("are asked with before_human, and the phase waits", () => {
    const asked = following(specified, asking);
    expect(asked).toMatchObject({ type: "PRE", outcome: null, metadata: { question: "Is this right?" } });
    expect(phase(asked, "ready")).toMatchObject({ status: "waiting", version: 1 });
    expect(asked.execution_graph.node_states).toEqual({});
    expect(() => following(asked, { trigger: "phase_start", phase: "ready" })).toThrow(
      refusal("phase_waits"),
    );
  });

  it("answer with approval, and the next phase can begin", () => {
    const approved = following(specified, asking, { trigger: "approval", by: "octocat" });
    expect(approved).toMatchObject({ type: "POST", outcome: "approved", note: "approved by @octocat" });
    const next = following(approved, { trigger: "phase_start", phase: "implementing" });
    expect(phase(next, "implementing")?.status).toBe("running");
    expect(() => following(specified, { trigger: "approval", by: "octocat" })).toThrow(
      refusal("phase_not_waiting"),
    );
  });

  it("are not asked about a phase that runs", () => {
    expect(() => following(begun(), { trigger: "before_human", phase: "enrich" })).toThrow(
      refusal("phase_begun"),
    );
  });

  it("are waited for after a pause, which nobody holds", () => {
    const pause = { kind: "stale", body_sha256: "a".repeat(64), branch_sha: null } as const;
    const paused = following(begun(), { trigger: "pause", pause });
    expect(paused).toMatchObject({ type: "PRE", pause, lease: null });
  });
});

describe("rollback", () => {
  it("to the middle of a phase keeps the tasks that were complete by then", () => {
    const middle = following(begun(), batch("design", "lint"));
    const latest = following(middle, batch("code"), batch("tests"), { trigger: "phase_transition" });
    const back = following(latest, { trigger: "rollback", target: middle });
    expect(back).toMatchObject({ type: "PRE", outcome: null, pause: { kind: "rollback" } });
    expect(back.metadata).toMatchObject({
      rollback_from: latest.checkpoint_id,
      rollback_to: middle.checkpoint_id,
    });
    expect(statuses(back)).toMatchObject({ design: "complete", code: "pending" });
    const again = following(back, { trigger: "phase_start", phase: "enrich" });
    expect(phase(again)).toMatchObject({ status: "running", attempt: 1, version: 2 });
    expect(batches(again)).toEqual([[1], 2]);
  });

  it("to the end of a phase goes on with the next, whose tasks are not known yet", () => {
    const specified = following(begun(null), { trigger: "phase_transition" });
    const latest = following(specified, { trigger: "phase_transition", outcome: "skipped", phase: "ready" });
    const back = following(latest, { trigger: "rollback", target: specified });
    expect(back.workflow_state.current_phase).toBe("ready");
    expect(back.execution_graph.node_states).toEqual({});
    expect(back.orchestrator_state.completed_phases).toEqual(["enrich"]);
  });

  it("opens a conflict again, but neither gives tokens back nor captures knowledge twice", () => {
    const tokenUsage = { input: 10, output: 1 };
    const open = following(begun(), {
      trigger: "conflict_start",
      conflict: "CONF-1",
      knowledge: { pending: ["KE-1"] },
    });
    const latest = following(
      open,
      { trigger: "conflict_resolved", conflict: "CONF-1", resolution: "blue" },
      { trigger: "agent_complete", task: "design", report: { summary: "", tokenUsage } },
      { trigger: "every_n_events", knowledge: { captured: ["KE-1"] } },
    );
    const back = following(latest, { trigger: "rollback", target: open });
    expect(back.acp_state.conflicts_in_progress).toEqual(["CONF-1"]);
    expect(back.agent_states.architect).toMatchObject({ token_usage: tokenUsage, status: "pending" });
    expect(back.knowledge_context).toMatchObject({ captured_entries: ["KE-1"], pending_captures: [] });
  });
});

it("a graph of thousands of tasks takes time in step with its size", () => {
  const wide = (size: number) =>
    Object.fromEntries(
      Array.from({ length: size }, (_, n) => [`t${n}`, n === 0 ? {} : { dependsOn: ["t0"] }]),
    );
  const started = performance.now();
  const all = following(begun(wide(5_000)), batch("t0"));
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(batches(all)).toEqual([[1], 2]);
});
