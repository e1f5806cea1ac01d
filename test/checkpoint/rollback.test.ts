import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planRollback, type RollbackPlan } from "../../src/checkpoint/rollback.js";
import type { Checkpoint, PhaseStatus } from "../../src/checkpoint/schema.js";
import { CrunchError } from "../../src/errors.js";
import { aCheckpoint, phasesWith, type Statuses } from "../builders.js";
import { anArtifact, artifacts, at, order } from "./a-run.js";

type Given = Omit<Partial<Checkpoint>, "notes" | "artifacts"> & {
  readonly phase: string;
  readonly phases: Statuses;
  readonly files?: Readonly<Record<string, string>>;
  readonly notes?: Readonly<Record<string, string>>;
  readonly head?: string | null;
};

/** A checkpoint of a run at a phase, as its end says unless told otherwise. */
function checkpointAt({ phase, phases, files = {}, notes = {}, head = null, ...change }: Given): Checkpoint {
  const base = aCheckpoint({ phases });
  return {
    ...base,
    ...at(phase),
    artifacts: artifacts(files),
    notes: Object.fromEntries(
      Object.entries(notes).map(([agent, text]) => [agent, anArtifact(`notes/${agent}.md`, text)]),
    ),
    issue_snapshot: { ...base.issue_snapshot, head_sha: head },
    ...change,
  };
}

const statuses = ({ phases }: Pick<RollbackPlan, "phases">) =>
  Object.fromEntries(Object.entries(phases).map(([name, { status }]) => [name, status]));

const specified = checkpointAt({
  ...{ phase: "enrich", phases: { enrich: "succeeded" } },
  files: { "spec.md": "first" },
  notes: { architect: "first" },
});
const implemented = checkpointAt({
  ...{ phase: "implementing", head: "a".repeat(40) },
  phases: { enrich: "succeeded", ready: "skipped", implementing: { status: "succeeded", version: 3 } },
  files: { "spec.md": "second", "screen.svg": "<svg/>" },
  notes: { architect: "first", builder: "new" },
});

describe("where a rolled back run goes on", () => {
  it("is the next phase after the end of one, and every later phase is pending", () => {
    const plan = planRollback(implemented, specified, order);
    expect(plan.phase).toBe("ready");
    expect(statuses(plan)).toEqual({
      ...{ enrich: "succeeded", ready: "pending", implementing: "pending" },
      ...{ validation: "pending", docs: "pending", done: "pending" },
    });
  });

  it("is the phase itself at its start, with no attempt counted", () => {
    const claim = checkpointAt({
      ...{ phase: "enrich", type: "PRE", trigger: "phase_start", outcome: null },
      phases: { enrich: { status: "running", attempt: 2 } },
    });
    const plan = planRollback(implemented, claim, order);
    expect(plan.phase).toBe("enrich");
    expect(plan.phases.enrich).toMatchObject({ status: "pending", attempt: 0, version: 1 });
  });

  it.each<[string, Partial<Pick<Checkpoint, "type" | "trigger" | "outcome">>, PhaseStatus, string]>([
    ["a failure", { trigger: "phase_failure", outcome: "failed" }, "failed", "implementing"],
    ["an interrupt", { trigger: "user_interrupt", outcome: "interrupted" }, "running", "implementing"],
    ["the end of a session", { trigger: "session_end" }, "running", "implementing"],
    ["a batch of tasks", { trigger: "batch_complete" }, "running", "implementing"],
    ["a question to a person", { type: "PRE", trigger: "before_human" }, "waiting", "implementing"],
    ["a manual save at work", { type: "PRE", trigger: "manual" }, "running", "implementing"],
    ["a manual save after the end", { type: "POST", trigger: "manual" }, "succeeded", "validation"],
    ["an approval", { trigger: "approval", outcome: "approved" }, "succeeded", "validation"],
    ["a skip", { outcome: "skipped" }, "skipped", "validation"],
    ["an earlier rollback", { type: "PRE", trigger: "rollback", outcome: null }, "pending", "implementing"],
  ])("after %s", (_, change, status, goesOn) => {
    const phases: Statuses = { enrich: "succeeded", ready: "skipped", implementing: status };
    const plan = planRollback(implemented, checkpointAt({ phase: "implementing", phases, ...change }), order);
    expect(plan.phase).toBe(goesOn);
    expect(statuses(plan)[goesOn]).toBe("pending");
  });

  it("is the end when the last phase had ended", () => {
    const done = Object.fromEntries(order.map((name) => [name, "succeeded" as const]));
    const plan = planRollback(specified, checkpointAt({ phase: "docs", phases: done }), order);
    expect([plan.phase, statuses(plan).done]).toEqual(["done", "succeeded"]);
  });

  it("takes a phase that the workflow got only later as passed", () => {
    const longer = ["enrich", "design", ...order.slice(1)];
    expect(planRollback(specified, implemented, longer).phases.design?.status).toBe("skipped");
  });

  it("keeps the versions of a phase that the workflow has lost", () => {
    const plan = planRollback(implemented, specified, ["enrich", "validation", "done"]);
    expect(plan.phases.implementing?.version).toBe(3);
  });

  it("can't be a phase that the workflow no longer has", () => {
    expect(() => planRollback(implemented, specified, ["build", "done"])).toThrow(CrunchError);
  });
});

describe("the files of a rolled back run", () => {
  const plan = planRollback(implemented, specified, order);

  it("that had other content are restored, those that are the same are left", () => {
    expect(plan.restore).toEqual([{ path: "spec.md", hash: anArtifact("", "first").hash }]);
  });

  it("that were not there are removed, notes too", () => {
    expect(plan.remove).toEqual(["screen.svg", "notes/builder.md"]);
  });

  it("that are no longer live are archived, with what they held", () => {
    expect(plan.archived).toEqual([
      anArtifact("spec.md", "second"),
      anArtifact("screen.svg", "<svg/>"),
      anArtifact("notes/builder.md", "new"),
    ]);
  });

  it.each(["checkpoints/latest", "Artifacts/x", "../x", "a//b", "notes/a.md"])("are never %s", (path) => {
    const forged = { ...specified, artifacts: { x: anArtifact(path, "x") } };
    expect(() => planRollback(implemented, forged, order)).toThrow(/names .* as a file/);
    expect(() => planRollback(forged, implemented, order)).toThrow(/names .* as a file/);
  });

  it("that an agent had not finished go to its next attempt", () => {
    const partial_work = [
      { path: "a.ts", mode: "100644", status: "added", hash: "c".repeat(64), size_bytes: 1 } as const,
    ];
    const stopped = { phase: "enrich", trigger: "user_interrupt", partial_work } as const;
    const plan = planRollback(
      implemented,
      checkpointAt({ ...stopped, phases: { enrich: "running" } }),
      order,
    );
    expect(plan.partialWork).toEqual(partial_work);
  });
});

describe("the code of a rolled back run", () => {
  const withHead = (head: string | null) => ({
    ...implemented,
    issue_snapshot: { ...implemented.issue_snapshot, head_sha: head },
  });
  const [a, b, base] = ["a".repeat(40), "b".repeat(40), "0".repeat(40)];

  it.each([
    ["goes back to the target's commit", b, a, a],
    ["goes back to the base when the target had none", b, null, base],
    ["stays when it has not moved", a, a, null],
    ["stays when there never was any", null, null, null],
    ["comes back when the run was started afresh since", null, a, a],
  ])("%s", (_, now, then, expected) => {
    expect(planRollback(withHead(now), withHead(then), order).codeTreeOf).toBe(expected);
  });
});

describe("any rollback", () => {
  const ended = fc.constantFrom<PhaseStatus>("succeeded", "skipped");
  const files = fc.dictionary(fc.constantFrom("a.md", "b.md", "c/d.md"), fc.constantFrom("1", "2", "3"));
  /** The end of any phase of a run. */
  const settled = fc
    .record({
      reached: fc.integer({ min: 0, max: 4 }),
      ends: fc.array(ended, { minLength: 5, maxLength: 5 }),
      versions: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 5, maxLength: 5 }),
      files,
      notes: fc.dictionary(fc.constantFrom("builder", "tester"), fc.constantFrom("1", "2")),
      head: fc.constantFrom(null, "a".repeat(40), "b".repeat(40)),
    })
    .map(({ reached, ends, versions, ...rest }) => {
      const states = order
        .slice(0, reached + 1)
        .map((name, index) => [
          name,
          { status: ends[index] ?? "succeeded", version: versions[index] ?? 1, attempt: 1 },
        ]);
      if (reached === 4) states.push(["done", { status: "succeeded", version: 0, attempt: 0 }]);
      return checkpointAt({ phase: order[reached] ?? "", phases: Object.fromEntries(states), ...rest });
    });

  /** The checkpoint that a rollback leaves behind. */
  const rolledBack = (from: Checkpoint, plan: RollbackPlan): Checkpoint => ({
    ...from,
    ...{ type: "PRE", trigger: "rollback", outcome: null },
    ...at(plan.phase),
    artifacts: plan.artifacts,
    notes: plan.notes,
    orchestrator_state: { ...from.orchestrator_state, phases: plan.phases },
  });

  it("and back again gives the same phases, files and notes", () => {
    fc.assert(
      fc.property(settled, settled, (current, target) => {
        const undone = planRollback(
          rolledBack(current, planRollback(current, target, order)),
          current,
          order,
        );
        expect(statuses(undone)).toEqual(statuses(current.orchestrator_state));
        expect(undone.artifacts).toEqual(current.artifacts);
        expect(undone.notes).toEqual(current.notes);
      }),
    );
  });

  it("done twice changes nothing more", () => {
    fc.assert(
      fc.property(settled, settled, (current, target) => {
        const plan = planRollback(current, target, order);
        const again = planRollback(rolledBack(current, plan), target, order);
        expect(again).toMatchObject({ phases: plan.phases, restore: [], remove: [], archived: [] });
        const marker = rolledBack(current, plan);
        expect(planRollback(marker, marker, order).phases).toEqual(plan.phases);
      }),
    );
  });

  it("never lowers a version, and brings exactly the target's files to life", () => {
    fc.assert(
      fc.property(settled, settled, (current, target) => {
        const plan = planRollback(current, target, order);
        for (const [name, { version }] of Object.entries(plan.phases)) {
          const known = [current, target].map((one) => one.orchestrator_state.phases[name]?.version ?? 0);
          expect(version).toBe(Math.max(...known));
        }
        const live = new Map(Object.values(current.artifacts).map(({ path, hash }) => [path, hash]));
        for (const [agent, { hash }] of Object.entries(current.notes)) live.set(`notes/${agent}.md`, hash);
        for (const path of plan.remove) live.delete(path);
        for (const { path, hash } of plan.restore) live.set(path, hash);
        const wanted = [...Object.values(target.artifacts), ...Object.values(target.notes)];
        expect(live).toEqual(new Map(wanted.map(({ path, hash }) => [path, hash])));
      }),
    );
  });

  it("leaves the phases it was given as they are", () => {
    const before = phasesWith({ enrich: "succeeded" });
    planRollback(implemented, specified, order);
    expect(specified.orchestrator_state.phases).toEqual(before);
  });
});

describe("where the chain is in a folder of another name", () => {
  const layout = { chain: "chain" };
  const having = (path: string) =>
    checkpointAt({ phase: "enrich", phases: { enrich: "succeeded" }, files: { [path]: "x" } });

  it("an agent's output may be called like the usual one", () => {
    const before = having("spec.md");
    const plan = planRollback(having("checkpoints/plan.md"), before, order, layout);
    expect(plan.remove).toEqual(["checkpoints/plan.md"]);
  });

  it("that folder is what no checkpoint may name", () => {
    const forged = having("Chain/index.yaml");
    expect(() => planRollback(forged, forged, order, layout)).toThrow(CrunchError);
    expect(() => planRollback(forged, forged, order)).not.toThrow();
  });
});
