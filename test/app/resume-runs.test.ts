import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/adapters/memory/checkpoint-store.js";
import type { Dependencies } from "../../src/app/dependencies.js";
import { runsToResume, type SweepMemory } from "../../src/app/resume-runs.js";
import type { CheckpointChange } from "../../src/checkpoint/create.js";
import { emptyRun, firstCheckpoint } from "../../src/checkpoint/create.js";
import type { Lease } from "../../src/checkpoint/schema.js";
import type { Issue, IssueTracker } from "../../src/ports.js";
import {
  aCheckpoint,
  aLease,
  aMaker,
  anIssue,
  now,
  phasesWith,
  type Statuses,
  unattended,
} from "../builders.js";

const done: Statuses = {
  ...{ enrich: "succeeded", ready: "skipped", implementing: "succeeded" },
  ...{ validation: "succeeded", docs: "succeeded" },
};

/** A repo with these issues; those with phases have a run that has come so far. */
async function aRepo(given: readonly { issue: Partial<Issue>; phases?: Statuses; lease?: Lease | null }[]) {
  const store = createMemoryStore(new Map());
  const issues = given.map(({ issue }) => anIssue(issue));
  const asked: string[] = [];
  for (const { issue, phases, lease = null } of given) {
    if (!phases) continue;
    const maker = aMaker();
    const snapshot = aCheckpoint().issue_snapshot;
    const named = { issue: issue.number ?? 42, workflow: "crunch", phase: "enrich", startedBy: "octo" };
    const run = emptyRun({ ...named, phases: phasesWith(phases, unattended), snapshot, maker });
    const change: CheckpointChange = {
      type: "POST",
      trigger: "phase_transition",
      outcome: "succeeded",
      lease,
    };
    await store.put(firstCheckpoint(run, change, maker), { expectedLatest: null });
  }
  const tracker = {
    openIssues: async (labels: readonly string[]) =>
      issues.filter((each) => each.isOpen && each.labels.some((label) => labels.includes(label))),
    issue: async (number: number) => {
      asked.push(`issue ${number}`);
      const found = issues.find((each) => each.number === number);
      if (!found) throw new Error("Not Found");
      return found;
    },
    labeledBy: async (number: number) => {
      asked.push(`labeledBy ${number}`);
      return { login: "mona", at: "2025-01-14T09:00:00Z" };
    },
  } as unknown as IssueTracker;
  let time = now.getTime();
  const warned: string[] = [];
  const deps = {
    tracker,
    code: { defaultBranch: "main" },
    openStore: () => store,
    readFile: async (path: string) => (path === ".github/crunch.yml" ? "agent: builder\n" : null),
    authority: { kind: "operator", operator: { agents: {}, commands: [] } },
    liveness: { probe: async () => "alive" as const },
    clock: { now: () => new Date(time) },
    log: { info() {}, warn: (message: string) => void warned.push(message), error() {} },
  } as unknown as Dependencies;
  const memory: SweepMemory = new Map();
  const look = async () => (await runsToResume(deps, memory)).map(({ kind, issue }) => `${kind} ${issue}`);
  const later = (minutes: number) => {
    time += minutes * 60_000;
  };
  return { deps, look, later, asked, warned };
}

const labels = (label: string) => ["bug", label];

describe("a look for runs that nobody works on", () => {
  it("finds one that was left in the middle, and not one that is held, or over", async () => {
    const { look } = await aRepo([
      { issue: { number: 1, labels: labels("state:enrich") }, phases: { enrich: "running" } },
      {
        issue: { number: 2, labels: labels("state:enrich") },
        phases: { enrich: "running" },
        lease: aLease({ session_id: "elsewhere" }),
      },
      { issue: { number: 3, labels: labels("state:done") }, phases: done },
      { issue: { number: 4, isOpen: false, labels: labels("state:enrich") }, phases: { enrich: "running" } },
    ]);
    expect(await look()).toEqual(["started 1"]);
  });

  it("finds a held one as soon as its lease has ended", async () => {
    const lease = aLease({ session_id: "elsewhere" });
    const issue = { number: 1, labels: labels("state:enrich") };
    const { look, later } = await aRepo([{ issue, phases: { enrich: "running" }, lease }]);
    expect(await look()).toEqual([]);
    later(2);
    expect(await look()).toEqual(["started 1"]);
  });

  it("finds a label that was never heard of, once", async () => {
    const { look, asked } = await aRepo([{ issue: { number: 1, labels: labels("state:enrich") } }]);
    expect(await look()).toEqual(["labeled 1"]);
    expect(await look()).toEqual([]);
    expect(asked).toEqual(["labeledBy 1"]);
  });

  it("does not bring up the same run at every look, but again after half an hour", async () => {
    const issue = { number: 1, labels: labels("state:enrich") };
    const { look, later } = await aRepo([{ issue, phases: { enrich: "running" } }]);
    expect(await look()).toEqual(["started 1"]);
    later(5);
    expect(await look()).toEqual([]);
    later(30);
    expect(await look()).toEqual(["started 1"]);
  });

  it("leaves one alone that waits for a person, unless its end may not have been shown", async () => {
    const failed = { enrich: "failed" } satisfies Statuses;
    const ended = (minutes: number) =>
      aLease({ expires_at: new Date(now.getTime() - minutes * 60_000).toISOString() });
    const issue = { labels: labels("state:enrich") };
    const { look, later } = await aRepo([
      { issue: { ...issue, number: 1 }, phases: failed, lease: ended(1) },
      { issue: { ...issue, number: 2 }, phases: failed, lease: ended(48 * 60) },
      { issue: { ...issue, number: 3, labels: labels("state:docs") }, phases: failed, lease: ended(48 * 60) },
    ]);
    expect(await look()).toEqual(["started 1", "started 3"]);
    later(60);
    expect(await look()).toEqual([]);
  });

  it("looks once at a chain whose issue has no label: its session may have died before it set one", async () => {
    const { look, asked } = await aRepo([
      { issue: { number: 1, labels: [] }, phases: { enrich: "running" } },
      { issue: { number: 2, labels: [], isOpen: false }, phases: done },
    ]);
    expect(await look()).toEqual(["started 1"]);
    expect(await look()).toEqual([]);
    expect(asked).toEqual(["issue 1", "issue 2"]);
  });

  it("is not stopped by an issue that is gone", async () => {
    const { look, deps, warned } = await aRepo([
      { issue: { number: 7, labels: [] }, phases: { enrich: "running" } },
      { issue: { number: 8, labels: labels("state:enrich") }, phases: { enrich: "running" } },
    ]);
    Object.assign(deps.tracker, { issue: () => Promise.reject(new Error("Not Found")) });
    expect(await look()).toEqual(["started 8"]);
    expect(warned).toEqual(["#7 could not be looked at: Not Found"]);
  });

  it("asks one thing of a repo that does not use Crunch", async () => {
    const { look, deps } = await aRepo([{ issue: { number: 1, labels: labels("state:enrich") } }]);
    Object.assign(deps, { readFile: async () => null, openStore: () => expect.fail("not to be asked") });
    expect(await look()).toEqual([]);
  });
});
