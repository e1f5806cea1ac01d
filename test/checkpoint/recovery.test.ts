import { describe, expect, it } from "vitest";
import { recoveryInfo } from "../../src/checkpoint/recovery.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { aCheckpoint, type Statuses } from "../builders.js";

type Node = Checkpoint["execution_graph"]["node_states"][string];

const aNode = (status: Node["status"], depends_on: string[] = []): Node => ({
  ...{ status, depends_on, agent: null, started_at: null, completed_at: null, result: null },
});

function infoOf(change: Partial<Checkpoint> = {}, phases: Statuses = { enrich: "running" }) {
  return recoveryInfo({ ...aCheckpoint({ phases }), ...change });
}

const withTasks = (node_states: Record<string, Node>) => ({
  execution_graph: { graph_id: "GRAPH-1", completed_batches: [1], current_batch: 2, node_states },
});

describe("what a checkpoint says about going on", () => {
  it("is yes while a phase is open, also one that failed", () => {
    expect(infoOf()).toEqual({ can_resume: true, resume_from: null, prerequisites_met: true, warnings: [] });
    expect(infoOf({}, { enrich: "failed" }).can_resume).toBe(true);
  });

  it("is no when every phase has ended", () => {
    const names = ["enrich", "ready", "implementing", "validation", "docs", "done"];
    const ended = Object.fromEntries(names.map((name) => [name, "succeeded" as const]));
    expect(infoOf({}, { ...ended, ready: "skipped" }).can_resume).toBe(false);
    expect(infoOf({}, { ...ended, docs: "pending" }).can_resume).toBe(true);
  });

  it("names the batch and task to go on with", () => {
    const tasks = withTasks({ a: aNode("complete"), b: aNode("running", ["a"]) });
    expect(infoOf(tasks)).toMatchObject({ resume_from: "batch_2_task_1", prerequisites_met: true });
  });

  it("warns of tasks that wait for one that can't be done", () => {
    const info = infoOf(withTasks({ a: aNode("failed"), b: aNode("pending", ["a"]) }));
    expect(info).toMatchObject({ resume_from: null, prerequisites_met: false });
    expect(info.warnings).toEqual(["the task b waits for one that did not succeed"]);
  });

  it("warns of conflicts, which have to be resolved first", () => {
    const acp_state = { pending_messages: [], awaiting_response: [], conflicts_in_progress: ["CONF-1"] };
    expect(infoOf({ acp_state })).toMatchObject({
      prerequisites_met: false,
      warnings: ["the conflict CONF-1 is not resolved"],
    });
  });

  it("tells the error and the unfinished files, which hinder nothing", () => {
    const info = infoOf({
      error: { code: "agent_failed", message: "The agent failed.", hint: "Try again." },
      partial_work: [{ path: "a.ts", mode: "100644", status: "deleted", hash: null, size_bytes: 0 }],
    });
    expect(info.prerequisites_met).toBe(true);
    expect(info.warnings).toEqual(["The agent failed.", "1 file was changed but not finished"]);
  });

  it("is computed anew, whatever the checkpoint says itself", () => {
    const forged = {
      can_resume: false,
      resume_from: "batch_9_task_9",
      prerequisites_met: false,
      warnings: [],
    };
    expect(infoOf({ recovery_info: forged }).can_resume).toBe(true);
  });
});
