import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { decodeCheckpoint, encodeCheckpoint } from "../../src/checkpoint/codec.js";
import { restoreGraph } from "../../src/checkpoint/execution-graph.js";
import { upgradeCheckpoint } from "../../src/checkpoint/upgrade.js";
import { CrunchError } from "../../src/errors.js";
import { leavesOf } from "../migration/leaves.js";

const folder = join(import.meta.dirname, "../fixtures/checkpoints");
const fixture = (name: string) => readFileSync(join(folder, name));
const old = () =>
  parse(
    fixture("v1.0.yaml")
      .toString()
      .replace(/^content_sha256.*\n/m, ""),
  );
const signed = (content: string) =>
  `${content}content_sha256: ${createHash("sha256").update(content).digest("hex")}\n`;

function refusal(action: () => unknown): CrunchError {
  try {
    action();
  } catch (error) {
    if (error instanceof CrunchError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

describe("a checkpoint of any version", () => {
  it.each(readdirSync(folder))("%s loads, and is written in the newest version", (name) => {
    const loaded = decodeCheckpoint(fixture(name));
    expect(loaded.version).toBe("1.1");
    const text = encodeCheckpoint(loaded);
    expect(text).toMatch(/^version: "1\.1"$/m);
    expect(decodeCheckpoint(text)).toEqual(loaded);
  });

  it("has a fixture", () => {
    expect(readdirSync(folder).sort()).toEqual(["v1.0.yaml", "v1.1.yaml"]);
  });

  it("of the newest version is left as it is", () => {
    const value = { version: "1.1", anything: 1 };
    expect(upgradeCheckpoint(value)).toBe(value);
  });

  it("without a version is left to the schema", () => {
    for (const value of [null, "text", [], {}]) expect(upgradeCheckpoint(value)).toBe(value);
  });

  it.each(["1.2", "2.0", "0.9", "", 1, 1.1, null, ["1.0"], "constructor"])("%j is refused", (version) => {
    const error = refusal(() => upgradeCheckpoint({ ...old(), version }));
    expect(error.code).toBe("checkpoint_version");
    expect(error.message).toContain('reads "1.0" and "1.1"');
  });

  it("is refused in a short line, however long the version is", () => {
    const error = refusal(() => upgradeCheckpoint({ version: `\u001b[31m\n${"9".repeat(100_000)}` }));
    expect(error.message).toMatch(/^\P{C}{1,200}$/u);
  });
});

describe("a checkpoint of version 1.1", () => {
  it("loads as it was written", () => {
    const { content_sha256, ...written } = parse(fixture("v1.1.yaml").toString());
    expect(content_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(decodeCheckpoint(fixture("v1.1.yaml"))).toEqual(written);
  });
});

describe("a checkpoint of version 1.0", () => {
  const loaded = () => decodeCheckpoint(fixture("v1.0.yaml"));

  it("keeps what both versions have", () => {
    const { checkpoint_id, issue_number, session_id, team_state, acp_state, knowledge_context } = old();
    expect(loaded()).toMatchObject({
      ...{ checkpoint_id, issue_number, session_id, team_state, acp_state, knowledge_context },
      created_at: "2025-01-14T10:30:00Z",
      issue_snapshot: old().issue_snapshot,
      agent_outputs: old().agent_outputs,
    });
  });

  it("loses nothing: every value is somewhere in the new one", () => {
    const values = new Set(leavesOf(loaded()).map(({ value }) => JSON.stringify(value)));
    const lost = leavesOf(old()).filter(({ value }) => !values.has(JSON.stringify(value)));
    expect(lost).toEqual([]);
  });

  it("stands where the order of phases puts it", () => {
    const { orchestrator_state: run, type, trigger, outcome } = loaded();
    expect({ type, trigger, outcome }).toEqual({ type: "PRE", trigger: "batch_complete", outcome: null });
    expect(run.completed_phases).toEqual(["enrich", "ready"]);
    expect(Object.entries(run.phases).map(([name, { status }]) => `${name} ${status}`)).toEqual([
      "enrich succeeded",
      "ready succeeded",
      "implementing running",
      "validation pending",
      "docs pending",
      "done pending",
    ]);
    expect(run.phases.implementing?.attempt).toBe(2);
    expect(run.run_id).toBe("RUN-issue-42");
  });

  it("has its tasks in our words, and a session that takes it up begins the running one again", () => {
    const graph = restoreGraph(loaded().execution_graph);
    expect(Object.entries(graph.node_states).map(([id, { status }]) => `${id} ${status}`)).toEqual([
      "create_spec complete",
      "rotate_keys complete",
      "refresh_endpoint pending",
      "client_retry pending",
    ]);
    expect(loaded().execution_graph.node_states.rotate_keys?.result).toBe(
      '{"files":2,"tests":["tests/test_tokens.py"]}',
    );
    expect(loaded().recovery_info).toMatchObject({ can_resume: true, resume_from: "batch_3_task_1" });
  });

  it("knows its agents from the team and from what they wrote", () => {
    expect(loaded().agent_states).toMatchObject({
      orchestrator: { status: "pending" },
      "system-architect": { status: "complete", summary: "Spec created for JWT refresh token feature" },
    });
  });

  it("says in its metadata what was changed", () => {
    expect(loaded().metadata).toEqual({
      upgraded_from: "1.0",
      version_1_0: {
        recovery_info: old().recovery_info,
        original: {
          "workflow_state.phase_started_at": "2025-01-14T11:05:00+01:00",
          "execution_graph.node_states.create_spec.status": "completed",
          "execution_graph.node_states.rotate_keys.result": { files: 2, tests: ["tests/test_tokens.py"] },
          "execution_graph.node_states.refresh_endpoint.status": "in_progress",
          "files_modified.1.status": "untracked",
        },
      },
    });
    expect(loaded().workflow_state.phase_started_at).toBe("2025-01-14T10:05:00.000Z");
  });

  it("with every task of its last phase done is the end of the run", () => {
    const { create_spec } = old().execution_graph.node_states;
    const value = {
      ...old(),
      workflow_state: { ...old().workflow_state, current_phase: "docs" },
      execution_graph: { ...old().execution_graph, node_states: { create_spec } },
    };
    expect(upgradeCheckpoint(value)).toMatchObject({
      type: "POST",
      trigger: "phase_transition",
      outcome: "succeeded",
      duration_ms: 25 * 60_000,
      orchestrator_state: {
        completed_phases: ["enrich", "ready", "implementing", "validation", "docs", "done"],
      },
    });
  });

  it("with an open conflict or without any batch done was not made for a batch", () => {
    const conflict = { ...old(), acp_state: { ...old().acp_state, conflicts_in_progress: ["CONF-1"] } };
    expect(upgradeCheckpoint(conflict)).toMatchObject({ trigger: "conflict_start", type: "PRE" });
    const fresh = { ...old(), execution_graph: { ...old().execution_graph, completed_batches: [] } };
    expect(upgradeCheckpoint(fresh)).toMatchObject({ trigger: "manual", type: "PRE" });
  });

  it.each<[string, Record<string, unknown>]>([
    ["a field of a later version", { lease: null }],
    ["a phase it does not know", { workflow_state: { ...old().workflow_state, current_phase: "deploy" } }],
    ["a missing part", { acp_state: undefined }],
    ["a wrong type", { issue_number: "42" }],
    ["a time that is none", { created_at: "yesterday" }],
  ])("with %s is refused", (_name, change) => {
    expect(refusal(() => upgradeCheckpoint({ ...old(), ...change })).code).toBe("checkpoint_invalid");
  });

  it("is refused when its hash is wrong, or its id is a path", () => {
    const text = fixture("v1.0.yaml").toString();
    const content = text.slice(0, text.lastIndexOf("content_sha256"));
    expect(refusal(() => decodeCheckpoint(text.replace("mona", "mono"))).code).toBe("checkpoint_hash");
    expect(refusal(() => decodeCheckpoint(content)).code).toBe("checkpoint_truncated");
    const forged = signed(content.replace("CP-implementing-20250114-b4c5", "../../x"));
    expect(refusal(() => decodeCheckpoint(forged)).code).toBe("checkpoint_invalid");
    expect(decodeCheckpoint(signed(content))).toEqual(loaded());
  });
});
