import { describe, expect, it } from "vitest";
import { importFiles } from "../../src/migration/import-files.js";
import { aMaker } from "../builders.js";
import { leavesOf } from "./leaves.js";
import { anOrchestratorCheckpoint, anOrchestratorRun, filesOf, sha256 } from "./samples.js";

const importing = (entries: Record<string, unknown>) =>
  importFiles(filesOf(entries), { issue: 42, maker: aMaker() });
const root = ".claude/checkpoints";
const one = (changes: Record<string, unknown> = {}) => ({
  [`${root}/run-r7/POST_planning_v1.json`]: anOrchestratorCheckpoint({
    parent_checkpoint_id: null,
    ...changes,
  }),
  [`${root}/artifacts/any/${sha256("# Plan\n")}`]: "# Plan\n",
});

describe("a run of the orchestrator", () => {
  it("becomes a chain in the order of its time and parents", () => {
    const { checkpoints, problems } = importing(anOrchestratorRun());
    expect(problems).toEqual([]);
    const shown = checkpoints.map((each) =>
      [each.sequence, each.type, each.workflow_state.current_phase, each.phase_version, each.trigger].join(
        " ",
      ),
    );
    expect(shown).toEqual([
      "1 PRE planning 1 phase_start",
      "2 POST planning 1 phase_transition",
      "3 PRE development 1 phase_start",
      "4 POST development 1 phase_failure",
      "5 PRE development 2 rollback",
    ]);
    const ids = checkpoints.map(({ checkpoint_id }) => checkpoint_id);
    expect(checkpoints.map(({ parent_checkpoint_id }) => parent_checkpoint_id)).toEqual([
      null,
      ids[0],
      ids[1],
      ids[2],
      // A rollback's parent is the checkpoint it goes back to.
      ids[1],
    ]);
    expect(checkpoints[4]?.metadata.imported_from).toEqual({
      layout: "orchestrator",
      file: `${root}/run-r7/PRE_development_v2.json`,
      id: "pre-3",
      parent: anOrchestratorCheckpoint().id,
      parent_checkpoint: ids[1],
    });
  });

  it("keeps agents, tools, tokens, gates and artifacts", () => {
    const { checkpoints, files } = importing(anOrchestratorRun());
    const post = checkpoints[1];
    expect(post).toMatchObject({
      issue_number: 42,
      duration_ms: 1_200_000,
      workflow_state: { workflow: "orchestrator", phase_started_at: "2025-11-21T10:00:00.000Z" },
      agent_states: {
        architect: {
          token_usage: { input: 12_000, output: 3400 },
          tool_invocations: [{ tool: "write_file", at: "2025-11-21T10:10:00Z", summary: "plan.md" }],
        },
      },
      agent_outputs: { architect: { planning: { output_summary: "Planned in three steps" } } },
      artifacts: { "docs/plan.md": { path: "docs/plan.md", hash: sha256("# Plan\n"), size_bytes: 7 } },
      governance_results: {
        quality_gates: [{ name: "plan-review", status: "passed", summary: "fine", phase: "planning" }],
        compliance_checks: [{ name: "licences", status: "skipped" }],
        passed: true,
      },
      recovery_info: { can_resume: true },
    });
    expect(files.get(post?.checkpoint_id ?? "")?.map(({ path }) => path)).toEqual([
      `artifacts/${sha256("# Plan\n")}`,
    ]);
    expect(checkpoints[3]?.error?.message).toBe("2 tests fail");
  });

  it("loses nothing: every value of a file is somewhere in its checkpoint", () => {
    const { checkpoints } = importing(anOrchestratorRun());
    const kept = new Set(leavesOf(checkpoints[1]).map(({ value }) => JSON.stringify(value)));
    const lost = leavesOf(anOrchestratorCheckpoint()).filter(({ value }) => !kept.has(JSON.stringify(value)));
    expect(lost).toEqual([]);
    expect(checkpoints[1]?.metadata).toMatchObject({
      cost_usd: 0.42,
      imported: { experiment: { arm: "b" } },
    });
    expect(checkpoints.at(-1)?.metadata.imported_index).toEqual(anOrchestratorRun()[`${root}/index.json`]);
  });

  it("puts parents first, even when their clocks were ahead", () => {
    const run = anOrchestratorRun();
    const path = `${root}/run-r7/PRE_planning_v1.json`;
    const late = { ...(run[path] as object), created_at: "2025-11-22T00:00:00Z" };
    const { checkpoints } = importing({ ...run, [path]: late });
    expect(checkpoints[0]?.metadata.imported_from).toMatchObject({ id: "pre-1" });
  });

  it.each<[string, Record<string, unknown>, string]>([
    [
      "an artifact that is missing",
      { [`${root}/run-r7/POST_planning_v1.json`]: anOrchestratorCheckpoint({ parent_checkpoint_id: null }) },
      "is not there: no file under artifacts/ has its hash",
    ],
    [
      "an artifact with other bytes",
      { ...one(), [`${root}/artifacts/any/${sha256("# Plan\n")}`]: "# Other\n" },
      "does not have the hash that its name says",
    ],
    [
      "an artifact that is outside",
      one({ artifacts: { x: { path: "../../etc/passwd", hash: sha256("# Plan\n") } } }),
      '"../../etc/passwd" is not a path inside the repo',
    ],
    [
      "an artifact of another size",
      one({ artifacts: { x: { path: "x", hash: `sha256:${sha256("# Plan\n")}`, size_bytes: 8 } } }),
      "has 7 bytes, not 8",
    ],
    ["a parent that is not there", one({ parent_checkpoint_id: "gone" }), 'names the parent "gone"'],
    [
      "a parent that is itself",
      one({ parent_checkpoint_id: anOrchestratorCheckpoint().id }),
      "its own ancestors",
    ],
    ["another phase than its name says", one({ phase: "qa" }), "which is not what its name says"],
    ["an index with unknown ids", { ...one(), [`${root}/index.json`]: [{ id: "x" }] }, 'lists "x"'],
    ["files that belong to nothing", { ...one(), [`${root}/notes.txt`]: "x" }, "no part of the layout"],
    [
      "an artifact that nothing names",
      { ...one(), [`${root}/artifacts/a/${sha256("y")}`]: "y" },
      "no checkpoint names it",
    ],
    ["one id twice", { ...one(), ...again() }, "has the same id"],
    ["one file that is no JSON", { ...one(), [`${root}/run-r7/POST_qa_v1.json`]: "{" }, "it is not JSON"],
    [
      "a phase that is no name",
      { ...one(), [`${root}/run-r7/POST_x_v1.json`]: { ...anOrchestratorCheckpoint(), phase: "../x" } },
      "phase: not a name",
    ],
  ])("with %s is imported, and that is reported", (_name, entries, problem) => {
    const { checkpoints, problems } = importing(entries);
    expect(problems.join("\n")).toContain(problem);
    expect(checkpoints).toHaveLength(1);
    expect(problems.join("")).not.toMatch(/undefined|\[object/);
  });

  it("keeps what it says about an artifact that was left out", () => {
    const { checkpoints } = importing(
      one({ artifacts: { x: { path: "a/b", hash: "no hash", size_bytes: 3 } } }),
    );
    expect(checkpoints[0]?.artifacts).toEqual({});
    expect(checkpoints[0]?.metadata.imported).toMatchObject({
      artifacts_left_out: { x: { path: "a/b", hash: "no hash", size_bytes: 3 } },
    });
  });

  it("can't pass its own metadata off as Crunch's", () => {
    const { checkpoints } = importing(one({ metadata: { imported_from: "me", upgraded_from: "0" } }));
    expect(checkpoints[0]?.metadata).toMatchObject({
      imported_from: { layout: "orchestrator" },
      imported: { metadata: { imported_from: "me", upgraded_from: "0" } },
    });
    expect(checkpoints[0]?.metadata).not.toHaveProperty("upgraded_from");
  });
});

function again() {
  return { [`${root}/run-r7/POST_planning_v2.json`]: anOrchestratorCheckpoint({ version: 2 }) };
}
