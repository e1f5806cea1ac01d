import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/adapters/memory/checkpoint-store.js";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { defaultRetention } from "../../src/checkpoint/retention.js";
import type { RunEvent } from "../../src/checkpoint/run-event.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { sha256 } from "../../src/engine/artifacts.js";
import type { IssueTask } from "../../src/engine/issue-task.js";
import { Journal } from "../../src/engine/journal.js";
import { capturePartialWork, restorePartialWork } from "../../src/engine/partial-work.js";
import type { Session } from "../../src/engine/session.js";
import { keepStopped } from "../../src/engine/unfinished.js";
import { CrunchError } from "../../src/errors.js";
import type { AgentResult, FileChange, Workspace } from "../../src/ports.js";
import { aCheckpoint, aFile, aMaker, clock } from "../builders.js";

const phase = { agents: {}, writes: ["src/**", "link"], gates: [] };
const silent = { info() {}, warn() {}, error() {} };

function aSession(options: { readonly maxPutBytes?: number; readonly content?: Buffer } = {}): Session {
  const { maxPutBytes = 50 * 1024 * 1024, content = Buffer.from("text") } = options;
  return {
    ...{ id: "session-1", clock, maker: aMaker(), log: silent, redact: (text: string) => text },
    signal: new AbortController().signal,
    store: { ...createMemoryStore(new Map()), readFile: async () => content },
    plan: { layout: defaultLayout, protectedPaths: [".github/**"], maxPutBytes, retention: defaultRetention },
  } as unknown as Session;
}

function aWorkspace(changes: readonly FileChange[] | CrunchError) {
  const applied: FileChange[] = [];
  const workspace = {
    changes: async () => {
      if (changes instanceof CrunchError) throw changes;
      return changes;
    },
    apply: async (more: readonly FileChange[]) => void applied.push(...more),
  } as unknown as Workspace;
  return { workspace, applied };
}

const capture = (changes: readonly FileChange[], session = aSession()) =>
  capturePartialWork(session, { issue: 42, run: aCheckpoint() }, phase, aWorkspace(changes).workspace);

const link = aFile("link", { mode: "120000", content: Buffer.from("src/a.ts") });
const goneLink = aFile("src/old", { mode: "120000", content: null, status: "deleted" });

describe("unfinished work", () => {
  it("keeps links and their deletion", async () => {
    const { partial_work, files, remark } = await capture([link, goneLink]);
    expect(remark).toBe(null);
    expect(files).toEqual([link, goneLink]);
    expect(partial_work).toEqual([
      {
        path: "link",
        mode: "120000",
        status: "added",
        hash: sha256(Buffer.from("src/a.ts")),
        size_bytes: 8,
      },
      { path: "src/old", mode: "120000", status: "deleted", hash: null, size_bytes: 0 },
    ]);
  });

  it("keeps the smallest files where one checkpoint has no room for all, and says how many are missing", async () => {
    const sized = (path: string, size: number) => aFile(path, { content: Buffer.alloc(size, "x") });
    const changes = [sized("src/huge", 9e6), sized("src/small", 10), sized("src/large", 5e6)];
    const { files, remark } = await capture(changes, aSession({ maxPutBytes: 8e6 }));
    expect(files.map(({ path }) => path)).toEqual(["src/small", "src/large"]);
    expect(remark).toBe("Files of the unfinished work were left out: 1 that one checkpoint has no room for.");
  });

  it("names so many files at most as a checkpoint can", async () => {
    const changes = Array.from({ length: 10_000 }, (_, i) => aFile(`src/${"x".repeat(900)}${i}`));
    expect((await capture(changes)).files.length).toBeLessThan(5_000);
  });

  it("says what it may not keep", async () => {
    const { files, remark } = await capture([aFile(".github/workflows/x.yml"), aFile("src/a.ts")]);
    expect(files.map(({ path }) => path)).toEqual(["src/a.ts"]);
    expect(remark).toContain("1 that the phase may not write");
  });
});

describe("restoring it", () => {
  const content = Buffer.from("evil");
  const named = (path: string, changes: object = {}) => ({
    ...{ path, mode: "100644" as const, status: "added" as const, hash: sha256(content), size_bytes: 4 },
    ...changes,
  });
  const restore = async (work: Checkpoint["partial_work"]) => {
    const { workspace, applied } = aWorkspace([]);
    const about = { issue: 42, name: "enrich" };
    await restorePartialWork(aSession({ content }), about, work, phase, workspace);
    return applied.map(({ path, mode }) => `${mode} ${path}`);
  };

  it("gives the agent its files and links again", async () => {
    const work = [named("src/a.ts"), named("link", { mode: "120000" })];
    expect(await restore(work)).toEqual(["100644 src/a.ts", "120000 link"]);
  });

  it.each([".github/workflows/x.yml", "other.txt", ".claude/crunch/7/spec.md", "../outside"])(
    "is refused as a whole when the phase may not write %s",
    async (path) => {
      await expect(restore([named("src/a.ts"), named(path)])).rejects.toMatchObject({
        code: "partial_work_refused",
        message: expect.stringContaining(JSON.stringify(path)),
      });
    },
  );
});

describe("a phase that is stopped after its agent succeeded", () => {
  const result: AgentResult = {
    ...{ status: "succeeded", exitCode: 0, summary: "Done.", outputs: [], notes: "My notes." },
    ...{ tokenUsage: { input: 1, output: 1 }, acceptanceCriteria: {}, outputTail: "", durationMs: 1 },
    progress: [{ at: clock.now().toISOString(), message: "half", percent: 50 }],
  };
  async function stopped(changes: readonly FileChange[] | CrunchError, maxPutBytes?: number) {
    const session = aSession(maxPutBytes === undefined ? {} : { maxPutBytes });
    const start = {
      isNewRun: false,
      issue: 42,
      latest: aCheckpoint(),
      carried: aCheckpoint(),
      eventKey: "key",
      actor: "mona",
    };
    const journal = new Journal(session, start);
    const said: RunEvent[] = [];
    const task = {
      ...{
        session,
        journal,
        phase: "enrich",
        name: "work",
        role: "coder",
        plan: phase,
        issue: { number: 42 },
      },
      agent: { name: "coder" },
      recorder: { tell: (event: RunEvent) => said.push(event) },
    } as unknown as IssueTask;
    const { workspace } = aWorkspace(changes);
    const missing = await keepStopped(task, workspace, result);
    return {
      missing,
      isReported: said.length > 0,
      work: journal.unfinished("enrich/work"),
      run: journal.run,
    };
  }

  it("need not run its agent again when all it changed is kept", async () => {
    const { missing, isReported } = await stopped([aFile("src/a.ts"), link]);
    expect({ missing, isReported }).toEqual({ missing: null, isReported: true });
  });

  it.each<[string, readonly FileChange[] | CrunchError, number | undefined]>([
    ["may not be written", [aFile(".github/x"), aFile("src/a.ts")], undefined],
    ["is too large", [aFile("src/a.ts", { content: Buffer.alloc(3e6) })], 2e6],
    ["can't be read", new CrunchError({ code: "x", message: "A link leads out.", hint: "-" }), undefined],
  ])("is still to do when some of it %s; notes and progress are kept", async (_, changes, maxPutBytes) => {
    const { missing, isReported, work, run } = await stopped(changes, maxPutBytes);
    expect(isReported).toBe(false);
    expect(missing).toMatch(/left out|not saved/);
    expect(work?.progress).toHaveLength(1);
    expect(Object.keys(run.notes)).toEqual(["coder"]);
  });
});
