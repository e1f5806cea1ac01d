import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileStore } from "../../src/adapters/fs/checkpoint-store.js";
import { createMemoryStore, type MemoryChains } from "../../src/adapters/memory/checkpoint-store.js";
import type { Resumable, ResumeOptions } from "../../src/app/checkpoint-service/resumption.js";
import { type CheckpointService, createCheckpointService } from "../../src/app/checkpoint-service.js";
import { verifyChain } from "../../src/app/verify-chain.js";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { CrunchError } from "../../src/errors.js";
import type { CheckpointStore, FileChange } from "../../src/ports.js";

const issue = 42;
const tasks = { design: {}, lint: {}, code: { dependsOn: ["design"] } };
const run = { issue, title: "Add a dark mode", body: "It is too bright.", phases: ["plan", "build"] };
const world = { title: run.title, body: run.body, labels: [], branchSha: null, filesChanged: [] };
const firstBatch = {
  trigger: "batch_complete",
  tasks: { design: { summary: "designed" }, lint: { summary: "linted" } },
} as const;
const text = (path: string, content: string) => ({ path, content: Buffer.from(content) });

function memory() {
  const chains: MemoryChains = new Map();
  return { open: () => createMemoryStore(chains), close: () => {} };
}

function files() {
  const root = mkdtempSync(join(tmpdir(), "crunch-service-"));
  const close = () => rmSync(root, { recursive: true, force: true });
  return { open: () => createFileStore(root, { durability: "none" }), close };
}

describe.each([
  ["memory", memory],
  ["file", files],
])("the checkpoint service on the %s store", (_, create) => {
  let place: ReturnType<typeof create>;
  let store: CheckpointStore;
  let service: CheckpointService;
  beforeEach(() => {
    place = create();
    store = place.open();
    service = createCheckpointService({ store, sessionId: "first" });
  });
  afterEach(async () => {
    expect((await verifyChain(place.open(), issue)).problems).toEqual([]);
    place.close();
  });

  /** As a process that knows nothing but the store. */
  const another = () => createCheckpointService({ store: place.open(), sessionId: "second" });
  async function resumed(options: ResumeOptions = {}): Promise<Resumable> {
    const found = await another().resume(issue, options);
    return found.status === "resumable" ? found : expect.fail(JSON.stringify(found));
  }

  describe("begins", () => {
    it("a run in its first phase, with `done` at the end", async () => {
      const begun = await service.begin({ ...run, tasks, labels: ["ui"] });
      expect(begun).toMatchObject({ sequence: 1, trigger: "phase_start", session_id: "first" });
      expect(Object.keys(begun.orchestrator_state.phases)).toEqual(["plan", "build", "done"]);
      expect(await another().load(issue, "latest")).toEqual(begun);
    });

    it("no second run before the first is over, unless that is wanted", async () => {
      await service.begin(run);
      await expect(service.begin(run)).rejects.toMatchObject({ code: "run_not_over" });
      const second = await service.begin({ ...run, restart: true });
      expect(second).toMatchObject({ sequence: 2, orchestrator_state: { completed_phases: [] } });
    });

    it("no run whose phases can't be told apart or written down", async () => {
      for (const phases of [[], ["done"], ["plan", "plan"], ["../x"], ["Plan"]])
        await expect(service.begin({ ...run, phases })).rejects.toMatchObject({ code: "phases_invalid" });
    });
  });

  describe("creates", () => {
    it("a checkpoint with artifacts, whose content is stored once", async () => {
      await service.begin({ ...run, tasks });
      const same = [text("spec.md", "# Spec\n"), text("copy.md", "# Spec\n")];
      const made = await service.create(issue, firstBatch, {
        artifacts: same,
        notes: { builder: "- careful\n" },
      });
      const { hash = "" } = made.artifacts["spec.md"] ?? {};
      expect(made.artifacts["copy.md"]?.hash).toBe(hash);
      for (const path of ["spec.md", "copy.md", `artifacts/${hash}`])
        expect((await place.open().readFile(issue, path))?.toString()).toBe("# Spec\n");
      expect((await store.readFile(issue, "notes/builder.md"))?.toString()).toBe("- careful\n");

      const written: (readonly FileChange[])[] = [];
      const put: CheckpointStore["put"] = (checkpoint, options) => {
        written.push(options.files ?? []);
        return store.put(checkpoint, options);
      };
      const watched = createCheckpointService({ store: { ...store, put } });
      await watched.create(issue, { trigger: "manual" }, { artifacts: [text("third.md", "# Spec\n")] });
      expect(written.flat().map(({ path }) => path)).toEqual(["third.md"]);
    });

    it("nothing where an artifact would take the place of what is not its own", async () => {
      await service.begin(run);
      for (const path of ["checkpoints/latest", "artifacts/x", "../x", "notes/builder.md"])
        await expect(
          service.create(issue, { trigger: "manual" }, { artifacts: [text(path, "x")] }),
        ).rejects.toThrow(CrunchError);
      expect(await service.listForRun(issue)).toHaveLength(1);
    });

    it("nothing of what can't have happened, and nothing without a run", async () => {
      await expect(service.create(issue, { trigger: "manual" })).rejects.toMatchObject({ code: "no_run" });
      await service.begin({ ...run, tasks });
      const early = { trigger: "batch_complete", tasks: { code: { summary: "" } } } as const;
      await expect(service.create(issue, early)).rejects.toMatchObject({ code: "task_not_ready" });
      expect(await service.listForRun(issue)).toHaveLength(1);
    });

    it("on top of what another writer stored first, from what that one knew", async () => {
      await service.begin({ ...run, tasks });
      const reports = [
        service.create(issue, { trigger: "agent_complete", task: "design", report: { summary: "one" } }),
        another().create(issue, { trigger: "agent_complete", task: "lint", report: { summary: "two" } }),
        another().create(issue, { trigger: "manual", note: "three" }),
      ];
      const made = await Promise.all(reports);
      expect(made.map(({ sequence }) => sequence).sort()).toEqual([2, 3, 4]);
      const { execution_graph } = await service.load(issue, "latest");
      expect(execution_graph.node_states).toMatchObject({
        ...{ design: { status: "complete" }, lint: { status: "complete" } },
      });
    });

    it("only one of two checkpoints that tell of the same batch", async () => {
      await service.begin({ ...run, tasks });
      const both = await Promise.allSettled([
        service.create(issue, firstBatch),
        another().create(issue, firstBatch),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    });

    it("and takes away what its retention says", async () => {
      const frugal = createCheckpointService({ store, retention: { manual: 1 } });
      await frugal.begin(run);
      for (const note of ["one", "two", "three", "four"])
        await frugal.create(issue, { trigger: "manual", note });
      // The latest and its parent are needed, whatever the policy says.
      expect(await frugal.listForRun(issue)).toHaveLength(3);
    });
  });

  describe("reads", () => {
    it("the checkpoints of one run among several", async () => {
      const ids: string[][] = [];
      for (let runs = 0; runs < 3; runs++) {
        const begun = await service.begin({ ...run, restart: true });
        const saved = [begun];
        for (let more = 0; more <= runs; more++)
          saved.push(await service.create(issue, { trigger: "manual" }));
        ids.push(saved.map(({ checkpoint_id }) => checkpoint_id));
      }
      const listed = async (runId?: string) =>
        (await another().listForRun(issue, runId)).map(({ checkpoint_id }) => checkpoint_id);
      expect(await listed()).toEqual(ids[2]);
      for (const run of ids) {
        const { orchestrator_state } = await service.load(issue, run[0] ?? "");
        expect(await listed(orchestrator_state.run_id)).toEqual(run);
      }
      expect(await listed("RUN-nobody")).toEqual([]);
      expect(await service.listForRun(7)).toEqual([]);
    });

    it("no checkpoint that there is not, and says which there are", async () => {
      const begun = await service.begin(run);
      const unknown = service.load(issue, "CP-plan-20250114-ffff");
      await expect(unknown).rejects.toMatchObject({
        ...{ code: "checkpoint_unknown", hint: expect.stringContaining(begun.checkpoint_id) },
      });
      await expect(service.load(issue, "../x")).rejects.toMatchObject({ code: "checkpoint_id_invalid" });
    });

    it("two checkpoints beside each other, with the texts of notes and artifacts", async () => {
      const begun = await service.begin({ ...run, tasks }, { artifacts: [text("spec.md", "one\n")] });
      const extra = { artifacts: [text("spec.md", "two\n")], notes: { builder: "- careful\n" } };
      const made = await service.create(issue, firstBatch, extra);
      const diff = await another().compare(issue, begun.checkpoint_id, made.checkpoint_id);
      expect(diff.isSame).toBe(false);
      expect(JSON.stringify(diff.parts)).toContain("careful");
      expect(JSON.stringify(diff.parts)).toContain("+two");
    });
  });

  describe("rolls back", () => {
    it("state, artifacts and notes, tells of the code, and can undo it", async () => {
      const code = { branch: "feature", head_sha: "a".repeat(40) };
      const begun = await service.begin({ ...run, tasks, code }, { artifacts: [text("spec.md", "one\n")] });
      const made = await service.create(
        issue,
        { ...firstBatch, snapshot: { head_sha: "b".repeat(40) } },
        {
          artifacts: [text("spec.md", "two\n"), text("more.md", "more\n")],
          notes: { builder: "- careful\n" },
        },
      );
      const back = await another().rollback(issue, begun.checkpoint_id);
      expect(back).toMatchObject({
        codeTreeOf: "a".repeat(40),
        undo: made.checkpoint_id,
        restored: ["spec.md"],
      });
      expect(back.removed).toEqual(["more.md", "notes/builder.md"]);
      expect(back.checkpoint).toMatchObject({
        parent_checkpoint_id: begun.checkpoint_id,
        trigger: "rollback",
      });
      const read = async (path: string) => (await place.open().readFile(issue, path))?.toString() ?? null;
      expect(await read("spec.md")).toBe("one\n");
      expect(await read("more.md")).toBeNull();
      const undone = await service.rollback(issue, back.undo);
      expect(undone.checkpoint.artifacts).toEqual(made.artifacts);
      expect(undone.checkpoint.notes).toEqual(made.notes);
      expect(await read("more.md")).toBe("more\n");
    });
  });

  describe("resumes", () => {
    it("what was running, without what is complete, as a further attempt", async () => {
      await service.begin({ ...run, tasks });
      await service.create(issue, firstBatch);
      const found = await resumed();
      expect(found).toMatchObject({ phase: "plan", standing: "running", resumeFrom: "batch_2_task_1" });
      expect(found.batches).toEqual([["code"]]);
      expect(found.graph.node_states).toMatchObject({
        code: { status: "pending" },
        design: { status: "complete" },
      });
      expect(found.checkpoint).toMatchObject({ session_id: "second", workflow_state: { phase_attempt: 2 } });
      const last = { trigger: "batch_complete", tasks: { code: { summary: "" } } } as const;
      expect((await another().create(issue, last)).recovery_info.resume_from).toBeNull();
    });

    it("unfinished files, for the next attempt", async () => {
      await service.begin(run);
      const unfinished = [{ ...text("src/a.ts", "half"), mode: "100644", status: "added" } as const];
      await service.create(issue, { trigger: "user_interrupt" }, { unfinished });
      expect((await resumed()).unfinished).toEqual(unfinished);
      expect(await store.readFile(issue, "src/a.ts")).toBeNull();
    });

    it("between two phases, by telling which is next", async () => {
      await service.begin(run);
      const ended = await service.create(issue, { trigger: "phase_transition" });
      const found = await resumed();
      expect(found).toMatchObject({ phase: "build", standing: "next", checkpoint: ended });
    });

    it("a phase that waits for a person, as waiting", async () => {
      await service.begin(run);
      await service.create(issue, { trigger: "phase_transition" });
      await service.create(issue, { trigger: "before_human", phase: "build" });
      expect(await resumed()).toMatchObject({ standing: "waiting", batches: [], resumeFrom: null });
    });

    it("a phase that failed, by trying again what failed, with a warning", async () => {
      await service.begin({ ...run, tasks });
      await service.create(issue, firstBatch);
      const error = { code: "agent_failed", message: "The agent failed.", hint: "Try again." };
      await service.create(issue, { trigger: "phase_failure", error });
      const found = await resumed();
      expect(found.batches).toEqual([["code"]]);
      expect(found.warnings).toContain("The agent failed.");
      expect(found.checkpoint.phase_version).toBe(2);
    });

    it("an older checkpoint by going back to it first", async () => {
      const begun = await service.begin({ ...run, tasks });
      await service.create(issue, firstBatch, { artifacts: [text("spec.md", "x")] });
      const before = await store.list(issue);
      const planned = await resumed({ checkpoint: begun.checkpoint_id, dryRun: true });
      expect(await store.list(issue)).toEqual(before);
      const found = await resumed({ checkpoint: begun.checkpoint_id });
      for (const one of [planned, found])
        expect(one).toMatchObject({ batches: [["design", "lint"], ["code"]], removed: ["spec.md"] });
      const triggers = (await store.list(issue)).map(({ trigger }) => trigger);
      expect(triggers).toEqual(["phase_start", "batch_complete", "rollback", "phase_start"]);
      expect(await store.readFile(issue, "spec.md")).toBeNull();
    });

    it("with a conflict open, so that it can be resolved, and says so", async () => {
      await service.begin(run);
      await service.create(issue, { trigger: "conflict_start", conflict: "CONF-1" });
      expect((await resumed()).warnings).toEqual(["the conflict CONF-1 is not resolved"]);
    });

    it("nothing in a world that has changed, until just that is accepted", async () => {
      await service.begin(run);
      const changed = { ...world, body: "It is too dark.", labels: ["ui"] };
      expect(await service.resume(issue, { world: changed })).toMatchObject({
        ...{ status: "stale", freshness: { action: "prompt_user" } },
      });
      expect(await service.resume(issue, { world: changed, accept: ["files_changed"] })).toMatchObject({
        status: "stale",
      });
      expect(await service.listForRun(issue)).toHaveLength(1);
      const found = await resumed({ world: changed, accept: ["body_changed"] });
      expect(found.warnings).toHaveLength(2);
      expect(found.checkpoint.issue_snapshot).toMatchObject({ body: "It is too dark.", labels: ["ui"] });
      expect((await resumed({ world: changed })).warnings).toEqual([]);
    });

    it("nothing where no run has begun, or it is over", async () => {
      const reasons = async () => {
        const found = await service.resume(issue);
        return found.status === "not_resumable" ? found.reasons.map(({ code }) => code) : found.status;
      };
      expect(await reasons()).toEqual(["no_run"]);
      await service.begin({ ...run, phases: ["plan"] });
      await service.create(issue, { trigger: "phase_transition" });
      expect(await reasons()).toEqual(["run_over"]);
    });
  });
});

describe("a chain that was changed behind the service's back", () => {
  async function damaged() {
    const chains: MemoryChains = new Map();
    const service = createCheckpointService({ store: createMemoryStore(chains) });
    const sound = await service.begin({ ...run, tasks });
    const broken = await service.create(issue, firstBatch, { artifacts: [text("spec.md", "text")] });
    const corrupt = (path: string) => chains.get(issue)?.set(path, Buffer.from("broken"));
    return { service: createCheckpointService({ store: createMemoryStore(chains) }), sound, broken, corrupt };
  }

  it("is not loaded, and the error names the newest checkpoint that is sound", async () => {
    const { service, sound, broken, corrupt } = await damaged();
    corrupt(defaultLayout.checkpoint(broken.checkpoint_id));
    const error = { code: "checkpoint_truncated", hint: expect.stringContaining(sound.checkpoint_id) };
    await expect(service.load(issue, "latest")).rejects.toMatchObject(error);
    await expect(service.load(issue, broken.checkpoint_id)).rejects.toMatchObject(error);
    expect(await service.resume(issue)).toMatchObject({ status: "not_resumable", reasons: [error] });
    expect(await service.load(issue, sound.checkpoint_id)).toEqual(sound);
  });

  it("is not resumed when a result is not what it was", async () => {
    const { service, broken, corrupt } = await damaged();
    corrupt(`artifacts/${broken.artifacts["spec.md"]?.hash}`);
    expect(await service.resume(issue)).toMatchObject({
      ...{ status: "not_resumable", reasons: [{ code: "artifact_changed" }] },
    });
    expect(await service.listForRun(issue)).toHaveLength(2);
  });
});

it("a run is not resumed when its branch was deleted, which one that was never made is not", async () => {
  const service = createCheckpointService({ store: createMemoryStore() });
  await service.begin(run);
  expect(await service.resume(issue, { world })).toMatchObject({ status: "resumable" });
  const head = "a".repeat(40);
  const pushed = { snapshot: { branch: "feature", head_sha: head }, projections: { branch_head: head } };
  await service.create(issue, { trigger: "manual", ...pushed });
  expect(await service.resume(issue, { world, accept: ["branch_deleted"] })).toMatchObject({
    ...{ status: "not_resumable", reasons: [{ code: "branch_deleted" }], freshness: { canResume: false } },
  });
});
