import { describe, expect, it } from "vitest";
import { restoreGraph } from "../../src/checkpoint/execution-graph.js";
import { importFiles } from "../../src/migration/import-files.js";
import { aMaker } from "../builders.js";
import { leavesOf } from "./leaves.js";
import { aProgressFile, filesOf } from "./samples.js";

const importing = (entries: Record<string, unknown>) =>
  importFiles(filesOf(entries), { issue: 42, maker: aMaker() });
const path = "progress/checkpoints/migration-T060.json";
const complete = aProgressFile({
  ...{ status: "complete", progress_percent: 100, updated_at: "2025-12-08T16:30:00Z", errors: [] },
  subtasks: { total: 1, completed: 1, items: [{ id: "post-01", status: "complete" }] },
  acceptance_criteria_met: { "29_files_created": true },
  resumable: false,
});

describe("a task's progress", () => {
  it("becomes a checkpoint whose tasks are its subtasks", () => {
    const { checkpoints, problems } = importing({ [path]: aProgressFile() });
    const [checkpoint] = checkpoints;
    expect(problems).toEqual([]);
    const nodes = restoreGraph(checkpoint?.execution_graph ?? expect.fail()).node_states;
    expect(Object.entries(nodes).map(([id, { status }]) => `${id} ${status}`)).toEqual([
      "migration-T060/post-01 complete",
      "migration-T060/post-02 failed",
      "migration-T060/post-20 pending",
      "migration-T060/post-21 pending",
      "migration-T060 pending",
    ]);
    expect(checkpoint).toMatchObject({
      ...{
        type: "PRE",
        trigger: "session_end",
        outcome: "interrupted",
        created_at: "2025-12-08T14:52:10.000Z",
      },
      orchestrator_state: {
        phases: { implementing: { status: "running" }, validation: { status: "pending" } },
      },
      files_modified: [
        { path: "docs/post-01.md", status: "added" },
        { path: "docs/MANIFEST.json", status: "modified" },
      ],
      acceptance_criteria: { "29_files_created": false, frontmatter_valid: true },
      error: { code: "dependency_missing", message: "Cannot find Post20English.pdf" },
      progress: [{ percent: 65 }],
      recovery_info: { can_resume: true },
    });
  });

  it("loses nothing: every leaf of the file is in the checkpoint, at its place", () => {
    const original = aProgressFile();
    const { checkpoints } = importing({ [path]: original });
    const kept = new Map(leavesOf(checkpoints[0]?.metadata.imported).map((leaf) => [leaf.path, leaf.value]));
    for (const { path, value } of leavesOf(original)) expect([path, kept.get(path)]).toEqual([path, value]);
  });

  it("tells the next agent in its notes where to go on", () => {
    const { checkpoints, files } = importing({
      [path]: aProgressFile({ context: { a: "x\n# Not a heading" } }),
    });
    const [checkpoint] = checkpoints;
    const [notes, artifact] = files.get(checkpoint?.checkpoint_id ?? "") ?? [];
    expect(notes?.path).toBe("notes/migration.md");
    expect(artifact?.path).toBe(`artifacts/${checkpoint?.notes.migration?.hash}`);
    const text = notes?.content?.toString() ?? "";
    expect(text).toContain("# Notes of migration (Riley), imported from progress files");
    expect(text).toContain("## T060: Convert Nature Trail PDFs to Markdown");
    expect(text).toContain("19 of 29 subtasks are done");
    expect(text).toContain("### Go on from here\n\nContinue from post-20.md");
    expect(text).toContain("- a: x # Not a heading");
    expect(text).toContain("- post-20 (in_progress)");
    expect(text).toContain("- 29_files_created");
    expect(text).toContain("- dependency_missing, blocking: Cannot find Post20English.pdf");
    expect(text).toContain("- agent_4: 85\n- agent_5: not yet");
  });

  it("that was archived as complete follows on the one before", () => {
    const { checkpoints } = importing({
      "progress/checkpoints/migration-T060-complete.json": complete,
      [path]: aProgressFile(),
    });
    expect(checkpoints.map(({ trigger, outcome }) => `${trigger} ${outcome}`)).toEqual([
      "session_end interrupted",
      "phase_transition succeeded",
    ]);
    expect(checkpoints[1]?.parent_checkpoint_id).toBe(checkpoints[0]?.checkpoint_id);
    expect(checkpoints[1]?.orchestrator_state.completed_phases).toEqual(["implementing"]);
    expect(checkpoints[1]?.error).toBeNull();
  });

  it("that is complete, but not accepted, is not complete", () => {
    const unmet = { ...complete, acceptance_criteria_met: { tested: false } };
    const [checkpoint] = importing({ [path]: unmet }).checkpoints;
    expect(checkpoint).toMatchObject({ trigger: "agent_complete", type: "PRE" });
    expect(checkpoint?.orchestrator_state.phases.implementing?.status).toBe("running");
  });

  it("that is blocked is a pause", () => {
    const [checkpoint] = importing({ [path]: aProgressFile({ status: "blocked" }) }).checkpoints;
    expect(checkpoint?.trigger).toBe("pause");
    expect(checkpoint?.team_state.members).toMatchObject([{ agent: "migration", status: "blocked" }]);
  });

  it("of several agents adds up to a state of all of them", () => {
    const other = { ...complete, agent: "content", task_id: "T001", started_at: "2025-12-08T10:00:00Z" };
    const { checkpoints } = importing({ "checkpoints/content-T001.json": other, [path]: aProgressFile() });
    const last = checkpoints.at(-1);
    expect(Object.keys(last?.agent_states ?? {}).sort()).toEqual(["content", "migration"]);
    expect(Object.keys(last?.notes ?? {}).sort()).toEqual(["content", "migration"]);
    expect(last?.acceptance_criteria).toMatchObject({
      "29_files_created": false,
      "T001: 29_files_created": true,
    });
    expect(last?.trigger).toBe("agent_complete");
  });

  it("may say as little as its status, when its name says the rest", () => {
    const [checkpoint] = importing({ "site-builder-T1.json": { status: "in_progress" } }).checkpoints;
    expect(Object.keys(checkpoint?.execution_graph.node_states ?? {})).toEqual(["site-builder-T1"]);
    expect(checkpoint?.created_at).toBe("2025-01-14T10:00:00.000Z");
  });

  it("with paths that lead outside is imported without them, and that is reported", () => {
    const { checkpoints, problems } = importing({
      [path]: aProgressFile({ files_created: ["../x", "/etc/x", "a"] }),
    });
    expect(checkpoints[0]?.files_modified.map((file) => file.path)).toEqual(["a", "docs/MANIFEST.json"]);
    expect(problems).toHaveLength(2);
  });

  it.each<[string, string, unknown]>([
    ["an agent that is a path", path, aProgressFile({ agent: "../../x" })],
    ["a status nobody knows", path, aProgressFile({ status: "maybe" })],
    ["a percentage beyond 100", path, aProgressFile({ progress_percent: 1e9 })],
    ["no name for its agent", "x.json", { status: "complete" }],
  ])("with %s is refused", (_name, at, file) => {
    expect(() => importing({ [at]: file })).toThrow(/^No checkpoint could be read: /);
  });
});
