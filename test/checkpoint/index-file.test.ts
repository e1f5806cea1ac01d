import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { type ExtendedIndex, extendIndex } from "../../src/checkpoint/extend-index.js";
import { type IndexEntry, indexEntryOf } from "../../src/checkpoint/index-entry.js";
import {
  type CheckpointIndex,
  inStoredOrder,
  parseIndex,
  parsePage,
} from "../../src/checkpoint/index-file.js";
import { defaultRetention, type RetentionPolicy } from "../../src/checkpoint/retention.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { CrunchError } from "../../src/errors.js";

/** Only what the index reads of a checkpoint. */
function aCheckpoint(
  id: string,
  options: { phase?: string; issue?: number; trigger?: Checkpoint["trigger"]; sequence?: number } = {},
): Checkpoint {
  const {
    phase = "enrich",
    issue = 42,
    trigger = "phase_start",
    sequence = Number.parseInt(id.slice(-6), 16),
  } = options;
  return {
    checkpoint_id: id,
    sequence,
    created_at: "2025-01-14T10:00:00.000Z",
    trigger,
    issue_number: issue,
    parent_checkpoint_id: sequence === 1 ? null : idOf(sequence - 1),
    workflow_state: { current_phase: phase },
    orchestrator_state: { phases: {} },
    recovery_info: { can_resume: true },
  } as Checkpoint;
}

/** The text after one more checkpoint. */
function appendToIndex(text: string | null, checkpoint: Checkpoint): string {
  return extendIndex(text === null ? null : parseIndex(text), checkpoint).index.text;
}

const idOf = (number: number) => `CP-enrich-20250114-${number.toString(16).padStart(6, "0")}`;

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof CrunchError) return error.code;
    throw error;
  }
  return "nothing thrown";
}

/** As other tools write it: the entries come before `latest`, and know neither place nor parent. */
function seedForm(count: number): string {
  const checkpoints = Array.from({ length: count }, (_, index) => {
    const { sequence, parent_checkpoint_id, ...entry } = indexEntryOf(aCheckpoint(idOf(index + 1)));
    return entry;
  });
  return stringify({
    issue_number: 42,
    checkpoints,
    latest: idOf(count),
    total_checkpoints: count,
  });
}

describe("the index of a chain", () => {
  it("begins with the first checkpoint and grows at its end", () => {
    const first = appendToIndex(null, aCheckpoint(idOf(1)));
    const second = appendToIndex(first, aCheckpoint(idOf(2), { phase: "ready" }));
    expect(second).toBe(`issue_number: 42
latest: CP-enrich-20250114-000002
total_checkpoints: 2
pages: 0
checkpoints:
  - checkpoint_id: CP-enrich-20250114-000001
    sequence: 1
    created_at: "2025-01-14T10:00:00.000Z"
    trigger: phase_start
    phase: enrich
    can_resume: true
    parent_checkpoint_id: null
  - checkpoint_id: CP-enrich-20250114-000002
    sequence: 2
    created_at: "2025-01-14T10:00:00.000Z"
    trigger: phase_start
    phase: ready
    can_resume: true
    parent_checkpoint_id: CP-enrich-20250114-000001
`);
  });

  it("reads back what was appended, whatever the phase is called", () => {
    const phases = [
      "enrich",
      "yes",
      "1.0",
      "a: b",
      "two\nlines",
      'a "quote"',
      "\u2028",
      "  - checkpoint_id: x",
      "",
    ];
    let text: string | null = null;
    for (const [index, phase] of phases.entries()) {
      text = appendToIndex(text, aCheckpoint(idOf(index + 1), { phase }));
    }
    const index = parseIndex(text ?? "");
    expect(index.checkpoints.map((entry) => entry.phase)).toEqual(phases);
    expect(index).toMatchObject({ issue_number: 42, total_checkpoints: phases.length });
  });

  it("of the plain form is rewritten in our own, loses no entry and gets the places and parents of a plain chain", () => {
    const text = appendToIndex(seedForm(3), aCheckpoint(idOf(4)));
    expect(text).toMatch(
      /^issue_number: 42\nlatest: CP-enrich-20250114-000004\ntotal_checkpoints: 4\npages: 0\n/,
    );
    expect(parseIndex(text).checkpoints).toEqual(
      [1, 2, 3, 4].map((at) => indexEntryOf(aCheckpoint(idOf(at)))),
    );
  });

  it("of our own first form, without places, parents and pages, is read as well", () => {
    const text = appendToIndex(appendToIndex(null, aCheckpoint(idOf(1))), aCheckpoint(idOf(2)));
    const old = text.replaceAll(/^ {4}(?:sequence|parent_checkpoint_id): .*\n|^pages: .*\n/gm, "");
    expect(old).not.toMatch(/sequence|parent|pages/);
    expect(parseIndex(old)).toEqual(parseIndex(text));
  });

  it("edited by hand, with comments or other line ends, is still understood", () => {
    const own = appendToIndex(appendToIndex(null, aCheckpoint(idOf(1))), aCheckpoint(idOf(2)));
    for (const edited of [
      `# note\n${own}`,
      `${own}\n# note\n`,
      own.replaceAll("\n", "\r\n"),
      own.trimEnd(),
    ]) {
      expect(parseIndex(edited)).toEqual(parseIndex(own));
      expect(appendToIndex(edited, aCheckpoint(idOf(3)))).toBe(appendToIndex(own, aCheckpoint(idOf(3))));
    }
  });

  it("that can't be read is refused, never begun anew", () => {
    const own = appendToIndex(appendToIndex(null, aCheckpoint(idOf(1))), aCheckpoint(idOf(2)));
    const broken = [
      "",
      "not an index",
      "[[[[",
      own.slice(0, -20),
      own.replace("42", "none"),
      own.replace("phase_start", "whenever"),
      own.replace(/latest: .*/, `latest: ${idOf(9)}`),
      own.replace("issue_number", "<<<<<<< HEAD\nissue_number"),
      `${own}  - checkpoint_id: ../../x\n`,
      "a: &a [x]\nb: *a\n",
    ];
    for (const text of broken) {
      expect(codeOf(() => appendToIndex(text, aCheckpoint(idOf(3))))).toBe("index_invalid");
    }
  });

  it("of another issue is refused", () => {
    const text = appendToIndex(null, aCheckpoint(idOf(1), { issue: 7 }));
    expect(codeOf(() => appendToIndex(text, aCheckpoint(idOf(2))))).toBe("index_invalid");
  });

  it("never lists an id twice", () => {
    const text = appendToIndex(null, aCheckpoint(idOf(1)));
    expect(codeOf(() => appendToIndex(text, aCheckpoint(idOf(1))))).toBe("checkpoint_id_taken");
  });

  it("does not take a longer id for the same", () => {
    const text = appendToIndex(null, aCheckpoint("CP-enrich-20250114-a3f2b1", { sequence: 1 }));
    expect(appendToIndex(text, aCheckpoint("CP-enrich-20250114-a3f2", { sequence: 2 }))).toContain("a3f2\n");
  });
});

/** A chain of so many checkpoints, with all that is ever written as pages. */
function grown(
  count: number,
  options: { retention?: RetentionPolicy; triggers?: Checkpoint["trigger"][] } = {},
) {
  const { triggers = ["manual"], retention } = options;
  const pages = new Map<number, string>();
  let index: CheckpointIndex | null = null;
  let longest = 0;
  for (let at = 1; at <= count; at++) {
    const trigger = triggers[at % triggers.length] ?? "manual";
    const next: ExtendedIndex = extendIndex(index, aCheckpoint(idOf(at), { trigger }), { retention });
    for (const { number, text } of next.pages) {
      if (pages.has(number)) throw new Error("a page was written twice");
      pages.set(number, text);
    }
    index = parseIndex(next.index.text);
    expect(index).toEqual(next.index);
    longest = Math.max(longest, index.checkpoints.length);
  }
  const paged: IndexEntry[] = [...pages.values()].flatMap(parsePage);
  return { pages, longest, index, all: inStoredOrder([...paged, ...(index?.checkpoints ?? [])]) };
}

describe("the pages of a long index", () => {
  it("take the older entries, 128 each, so that the index stays short", () => {
    const { pages, longest, index, all } = grown(700);
    expect(all.map(({ checkpoint_id }) => checkpoint_id)).toEqual(all.map((_, at) => idOf(at + 1)));
    expect(all).toHaveLength(700);
    expect(longest).toBeLessThanOrEqual(160);
    expect([...pages.keys()]).toEqual([1, 2, 3, 4, 5]);
    expect(index).toMatchObject({ pages: 5, total_checkpoints: 700 });
    for (const page of pages.values()) expect(parsePage(page)).toHaveLength(128);
  });

  it("leave behind what retention may still take away, and take it once it is gone", () => {
    const retention = { ...defaultRetention, batch_complete: 3 };
    const { longest, all, pages } = grown(700, { retention, triggers: ["manual", "batch_complete"] });
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, at) => at + 1));
    const live = all.filter(({ trigger, removed_at }) => trigger === "batch_complete" && !removed_at);
    expect(live.map(({ sequence }) => sequence)).toEqual([695, 697, 699]);
    expect(longest).toBeLessThanOrEqual(163);
    for (const entry of [...pages.values()].flatMap(parsePage))
      expect(entry.trigger === "manual" || entry.removed_at !== undefined).toBe(true);
  });

  it("an old index of 10,000 entries is split at the next put, and every one after costs next to nothing", () => {
    const entries = Array.from({ length: 10_000 }, (_, at) => indexEntryOf(aCheckpoint(idOf(at + 1))));
    const lines = entries.map(
      (one) =>
        `  - checkpoint_id: ${one.checkpoint_id}\n    created_at: "${one.created_at}"\n    trigger: phase_start\n` +
        "    phase: enrich\n    can_resume: true\n",
    );
    const head = `issue_number: 42\nlatest: ${idOf(10_000)}\ntotal_checkpoints: 10000\ncheckpoints:\n`;
    const start = performance.now();
    const split = extendIndex(parseIndex(head + lines.join("")), aCheckpoint(idOf(10_001)));
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(split.pages).toHaveLength(77);
    expect(split.index.total_checkpoints).toBe(10_001);
    const again = performance.now();
    const next = extendIndex(parseIndex(split.index.text), aCheckpoint(idOf(10_002)));
    expect(performance.now() - again).toBeLessThan(20);
    expect(next.index.checkpoints).toHaveLength(10_002 - 77 * 128);
  });
});
