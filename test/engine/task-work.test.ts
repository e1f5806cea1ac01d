import { expect, it } from "vitest";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { createTurns } from "../../src/engine/in-turn.js";
import type { IssueTask } from "../../src/engine/issue-task.js";
import { Journal } from "../../src/engine/journal.js";
import type { Session } from "../../src/engine/session.js";
import { runIssueTask } from "../../src/engine/task-work.js";
import type { AgentResult, Workspace } from "../../src/ports.js";
import { aCheckpoint, aMaker, clock } from "../builders.js";

it("a task that fails lets the next one add its work only once its own end is told", async () => {
  const signal = new AbortController().signal;
  const plan = {
    ...{ layout: defaultLayout, protectedPaths: [], maxPutBytes: 1e6, phases: {} },
    ...{ checkpoints: { conflictEvents: false, agentComplete: false, everyEvents: null } },
    workflow: { phases: { left: { type: "agent", does: "", next: ["end"] } } },
  };
  const session = {
    ...{ id: "session-1", clock, maker: aMaker(), plan, signal, notes: new Map() },
    ...{ log: { info() {}, warn() {}, error() {} }, redact: (text: string) => text },
  } as unknown as Session;
  const carried = aCheckpoint();
  const start = { issue: 42, isNewRun: false, latest: carried, carried, eventKey: "k", actor: "mona" };
  const journal = new Journal(session, start);
  const turn = createTurns();
  const failed: AgentResult = {
    ...{ status: "failed", exitCode: 1, summary: "It broke.", outputs: [], notes: null, progress: [] },
    ...{ tokenUsage: { input: 0, output: 0 }, acceptanceCriteria: {}, outputTail: "", durationMs: 1 },
  };
  const workspace = { baseSha: "a".repeat(40), changes: async () => [] } as unknown as Workspace;
  const task = {
    ...{ session, journal, turn, atWork: new Set(), issue: { number: 42, url: "" }, basis: {} },
    ...{ phase: "left", name: "work", does: "", role: "coder", kind: "work", isOnly: true },
    recorder: { latest: null, record: { phases: {}, nodes: {} }, tell() {} },
    folders: { take: async () => workspace, drop: async () => {}, giveBack: async () => {} },
    plan: { agents: {}, writes: ["**"], gates: [] },
    agent: { name: "coder", timeoutMs: 1_000, runner: { run: async () => failed } },
    setUp: async () => {},
  } as unknown as IssueTask;
  const context = {
    ...{ state: {}, phase: "left", task: "work", item: null, attempt: 1, version: 1, retries: 0, signal },
  };
  await expect(runIssueTask(task, context)).rejects.toMatchObject({ message: "It broke." });
  let isIn = false;
  const next = turn().then(() => {
    isIn = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isIn).toBe(false);
  const at = clock.now().toISOString();
  const error = { code: "agent_failed", message: "It broke." };
  journal.hears({ type: "task:failed", phase: "left", task: "work", at, error });
  await next;
  expect(journal.run.agent_states.coder?.status).toBe("failed");
});
