import { describe, expect, it } from "vitest";
import { labelFor, pendingPhases, phasesFrom, standingOf, withPhase } from "../../src/engine/standing.js";
import { approved, phasesWith, type Statuses, unattended } from "../builders.js";

const allButDocs = {
  ...{ enrich: "succeeded", ready: "skipped", implementing: "succeeded", validation: "succeeded" },
} satisfies Statuses;

describe("where a run stands", () => {
  it.each<[string, Statuses, string]>([
    ["at its first phase before anything ran", {}, "next enrich"],
    ["at the phase that is running", { enrich: "running" }, "running enrich"],
    ["at the phase that failed", { enrich: "failed" }, "failed enrich"],
    [
      "after what is done and what is skipped",
      { enrich: "succeeded", ready: "skipped" },
      "next implementing",
    ],
    ["at the last phase as long as it is open", allButDocs, "next docs"],
    ["at its end when every phase has ended", { ...allButDocs, docs: "skipped" }, "finished done"],
  ])("%s", (_, phases, expected) => {
    const standing = standingOf(unattended, phasesWith(phases), "auto");
    expect(`${standing.kind} ${standing.phase}`).toBe(expected);
    expect(labelFor(standing)).toBe(`state:${standing.phase}`);
  });

  it("waits for a person at a human phase that has asked, and knows what comes next", () => {
    const phases = phasesWith({ enrich: "succeeded", ready: "waiting" }, approved);
    expect(standingOf(approved, phases, "auto")).toEqual({
      ...{ kind: "waiting_for_person", phase: "ready", next: "implementing" },
    });
  });

  it("by hand, waits for the next phase's label and shows the label of the phase that is done", () => {
    const phases = phasesWith({ enrich: "succeeded", ready: "skipped" });
    const standing = standingOf(unattended, phases, "manual");
    expect(standing).toEqual({ kind: "waiting_for_label", done: "enrich", phase: "implementing" });
    expect(labelFor(standing)).toBe("state:enrich");
  });

  it("by hand, goes on after an approval, because the approving label is the next phase's", () => {
    const phases = phasesWith({ enrich: "succeeded", ready: "succeeded" }, approved);
    expect(standingOf(approved, phases, "manual")).toEqual({ kind: "next", phase: "implementing" });
  });

  it("by hand, needs no label for a phase that is passed on the way", () => {
    const phases = phasesWith({ enrich: "succeeded" });
    expect(standingOf(unattended, phases, "manual")).toEqual({ kind: "next", phase: "ready" });
  });

  it("by hand, needs no label for the first phase, nor where all before it were skipped", () => {
    expect(standingOf(unattended, phasesWith({}), "manual").kind).toBe("next");
    const jumped = phasesFrom(unattended, phasesWith({}), "docs");
    expect(standingOf(unattended, jumped, "manual")).toEqual({ kind: "next", phase: "docs" });
  });

  it("takes a phase the run does not know for one that is still to be done", () => {
    expect(standingOf(unattended, {}, "auto")).toEqual({ kind: "next", phase: "enrich" });
  });
});

describe("the phases of a run", () => {
  it("are all pending at first, the terminal one too", () => {
    expect(Object.keys(pendingPhases(unattended))).toEqual([
      ...["enrich", "ready", "implementing", "validation", "docs", "done"],
    ]);
  });

  it("begin again at a target: later ones with no attempts, but still counting their versions", () => {
    const phases = phasesWith({
      enrich: "succeeded",
      implementing: { status: "failed", attempt: 3, version: 2 },
    });
    const again = phasesFrom(unattended, phases, "implementing");
    expect(again.enrich).toEqual(phases.enrich);
    expect(again.ready?.status).toBe("skipped");
    expect(again.implementing).toMatchObject({ status: "pending", attempt: 0, version: 2 });
  });

  it("can't be changed by a name that is none of them", () => {
    expect(() => withPhase(pendingPhases(unattended), "testing", { status: "failed" })).toThrow("testing");
  });
});
