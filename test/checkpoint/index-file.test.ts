import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { appendToIndex, indexEntryOf, indexHas, parseIndex } from "../../src/checkpoint/index-file.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { CrunchError } from "../../src/errors.js";

/** Only what the index reads of a checkpoint. */
function aCheckpoint(id: string, options: { phase?: string; issue?: number } = {}): Checkpoint {
  const { phase = "enrich", issue = 42 } = options;
  return {
    checkpoint_id: id,
    created_at: "2025-01-14T10:00:00.000Z",
    trigger: "phase_start",
    issue_number: issue,
    workflow_state: { current_phase: phase },
    recovery_info: { can_resume: true },
  } as Checkpoint;
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

/** As S3 shows it: the entries come before `latest`. */
function seedForm(count: number): string {
  const checkpoints = Array.from({ length: count }, (_, index) => indexEntryOf(aCheckpoint(idOf(index))));
  return stringify({
    issue_number: 42,
    checkpoints,
    latest: idOf(count - 1),
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
checkpoints:
  - checkpoint_id: CP-enrich-20250114-000001
    created_at: "2025-01-14T10:00:00.000Z"
    trigger: phase_start
    phase: enrich
    can_resume: true
  - checkpoint_id: CP-enrich-20250114-000002
    created_at: "2025-01-14T10:00:00.000Z"
    trigger: phase_start
    phase: ready
    can_resume: true
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
      text = appendToIndex(text, aCheckpoint(idOf(index), { phase }));
    }
    const index = parseIndex(text ?? "");
    expect(index.checkpoints.map((entry) => entry.phase)).toEqual(phases);
    expect(index).toMatchObject({ issue_number: 42, total_checkpoints: phases.length });
  });

  it("in another order is rewritten in our own, and loses no entry", () => {
    const text = appendToIndex(seedForm(3), aCheckpoint(idOf(3)));
    expect(text).toMatch(/^issue_number: 42\nlatest: CP-enrich-20250114-000003\ntotal_checkpoints: 4\n/);
    expect(parseIndex(text).checkpoints.map((entry) => entry.checkpoint_id)).toEqual([0, 1, 2, 3].map(idOf));
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
    for (const text of broken.filter((one) => one !== broken[5])) {
      expect(codeOf(() => appendToIndex(text, aCheckpoint(idOf(3))))).toBe("index_invalid");
    }
    expect(codeOf(() => parseIndex(broken[5] ?? ""))).toBe("index_invalid");
  });

  it("of another issue is refused", () => {
    const text = appendToIndex(null, aCheckpoint(idOf(1), { issue: 7 }));
    expect(codeOf(() => appendToIndex(text, aCheckpoint(idOf(2))))).toBe("index_invalid");
  });

  it("never lists an id twice", () => {
    const text = appendToIndex(null, aCheckpoint(idOf(1)));
    expect(codeOf(() => appendToIndex(text, aCheckpoint(idOf(1))))).toBe("checkpoint_id_taken");
  });

  it("tells whether an id is taken, and does not mistake a longer id for it", () => {
    const text = appendToIndex(null, aCheckpoint("CP-enrich-20250114-a3f2b1"));
    expect(indexHas(text, "CP-enrich-20250114-a3f2b1")).toBe(true);
    expect(indexHas(text, "CP-enrich-20250114-a3f2")).toBe(false);
    expect(indexHas(null, "CP-enrich-20250114-a3f2")).toBe(false);
    expect(indexHas(seedForm(3), idOf(1))).toBe(true);
  });

  it("of 10,000 entries grows and is read in milliseconds", () => {
    const entries = Array.from({ length: 10_000 }, (_, index) => aCheckpoint(idOf(index)));
    const head = appendToIndex(null, aCheckpoint(idOf(0)));
    const body = head.slice(head.indexOf("  - "));
    const text = head
      .replace(/latest: .*/, `latest: ${idOf(9_999)}`)
      .replace("total_checkpoints: 1", "total_checkpoints: 10000")
      .replace(body, entries.map((one) => body.replace(idOf(0), one.checkpoint_id)).join(""));
    appendToIndex(text, aCheckpoint(idOf(10_000)));
    const start = performance.now();
    const next = appendToIndex(text, aCheckpoint(idOf(10_000)));
    const appended = performance.now();
    const index = parseIndex(next);
    const parsed = performance.now();
    expect(index.checkpoints).toHaveLength(10_001);
    expect(index.latest).toBe(idOf(10_000));
    expect(appended - start).toBeLessThan(20);
    expect(parsed - appended).toBeLessThan(400);
  });
});
