import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import MarkdownIt from "markdown-it";
import { describe, expect, it } from "vitest";
import { compareCheckpoints, type Extra } from "../../src/checkpoint/diff.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { renderDiffMarkdown, renderDiffText } from "../../src/render/diff.js";
import { aGateResult } from "../builders.js";
import { anArtifact, aRun, at, contents, standing } from "../checkpoint/a-run.js";

const { first, specified, claimed, failed, done } = aRun();
const fileUrl = (path: string) => `https://github.test/blob/${path}`;

const markdown = (a: Checkpoint, b: Checkpoint, extra?: Extra) =>
  renderDiffMarkdown(compareCheckpoints(a, b, extra), { fileUrl });
const text = (
  a: Checkpoint,
  b: Checkpoint,
  { extra, width = 80, color = false }: { extra?: Extra; width?: number; color?: boolean } = {},
) => renderDiffText(compareCheckpoints(a, b, extra), { color, width });
const headline = (a: Checkpoint, b: Checkpoint) => markdown(a, b).split("\n")[0];
/** A later checkpoint that differs from `done` by this. */
const later = (change: Partial<Checkpoint>): Checkpoint => ({
  ...done,
  ...{ checkpoint_id: "CP-implementing-20250114-beef", sequence: 99 },
  ...change,
});

describe("the headline of a comparison", () => {
  const validation = at("validation");
  it.each<[string, Checkpoint, Checkpoint, string]>([
    ["one checkpoint", done, done, "### Both are the same checkpoint."],
    ["a saved copy", done, later({}), "### Nothing of the run changed between these two checkpoints."],
    ["a success after a failure", failed, done, "### ✅ `implementing` succeeds now, after it had failed."],
    ["a failure", specified, failed, "### ❌ `implementing` failed: The gate tests failed."],
    ["phases on the way", first, claimed, "### `enrich` and `ready` ended, then `implementing` began."],
    ["a success", claimed, done, "### ✅ `implementing` succeeded."],
    [
      "a rollback",
      done,
      later({ ...at("enrich"), ...standing(done, {}), type: "PRE", trigger: "rollback", outcome: null }),
      "### ⚠️ The run was rolled back and goes on at `enrich`.",
    ],
    [
      "a question",
      done,
      later({ ...validation, type: "PRE", trigger: "before_human", outcome: null }),
      "### ⚠️ `validation` waits for a person.",
    ],
    [
      "a further attempt",
      claimed,
      { ...claimed, ...at("implementing", 2), checkpoint_id: "CP-implementing-20250114-cafe", sequence: 99 },
      "### `implementing` began again (version 1, attempt 2).",
    ],
    [
      "an interrupt",
      done,
      later({ ...validation, outcome: "interrupted" }),
      "### ⚠️ `validation` was interrupted.",
    ],
    [
      "a new run",
      done,
      later({ orchestrator_state: { ...done.orchestrator_state, run_id: "RUN-2" } }),
      "### ⚠️ These are two different runs: the newer one was started afresh.",
    ],
  ])("of %s", (_, a, b, expected) => {
    expect(headline(a, b)).toBe(expected);
  });

  it("is followed by what matters besides, gates first", () => {
    expect(markdown(failed, done, contents).split("\n")[2]).toBe(
      "Since then: the gate `tests` passes now · 1 acceptance criterion is met now · the issue was edited meanwhile" +
        " · 3 files of code changed by `implementing` · `spec.md` changed · `screens/dark.svg` added.",
    );
  });
});

describe("a comparison as a comment", () => {
  const shown = markdown(failed, done, contents);

  it("has a table of what differs, with links to both checkpoints", () => {
    expect(shown).toContain(
      `[\`${done.checkpoint_id}\`](${fileUrl(`checkpoints/${done.checkpoint_id}.yaml`)})`,
    );
    expect(shown).toContain("| outcome | failed | succeeded |");
    expect(shown).toContain("| tokens | 81,500 | 150,500 (+57,500 in, +11,500 out) |");
    expect(shown).toContain("| pull request | none | #17 |");
    expect(markdown(specified, claimed)).not.toContain("| tokens |");
  });

  it("folds long texts", () => {
    expect(shown).toContain("<details><summary><code>spec.md</code></summary>\n\n```diff\n@@ -1,6 +1,7 @@\n");
    expect(markdown(specified, failed)).toContain("<summary>Why <code>tests</code> fails</summary>");
  });

  it("tells what to do about an error, with the command to copy", () => {
    expect(markdown(specified, failed)).toContain("- What to do: Comment `/crunch` to try again.");
  });

  it("does not call a criterion unmet that nobody judged this time", () => {
    const shown = markdown(done, later({ acceptance_criteria: {} }));
    expect(shown).toContain("- charts are readable: met → not judged");
    expect(shown).not.toContain("no longer met");
  });

  it("works without links", () => {
    expect(renderDiffMarkdown(compareCheckpoints(failed, done))).not.toContain("](");
  });
});

describe("text of others in a comment", () => {
  const nasty = [
    "</details><script>alert(1)</script>",
    "@octocat <!-- crunch:status -->",
    "````\n# out of the fence\n```",
    "| a | table |\n|---|---|",
    "\u001b[31mred\u001b[0m \u202e turned \u0007",
    "[link](javascript:alert(1)) ![x](y)",
  ];
  const hostile = (words: string): Checkpoint =>
    later({
      ...{ outcome: "failed", trigger: "phase_failure", note: words },
      error: { code: "x", message: words, hint: words },
      issue_snapshot: {
        ...done.issue_snapshot,
        title: words,
        body: words,
        labels: [words],
        assignees: [words],
      },
      agent_outputs: {
        [words]: { [words]: { completed_at: done.created_at, output_summary: words, output_location: null } },
      },
      artifacts: { [words]: anArtifact(words, words) },
      notes: { [words]: anArtifact(words, words) },
      files_modified: [{ path: words, status: "added", staged: true }],
      acceptance_criteria: { [words]: true },
      governance_results: {
        quality_gates: [aGateResult({ name: words, summary: words, details: words, status: "failed" })],
        ...{ compliance_checks: [], passed: false },
      },
    });
  const extra = (words: string) => ({
    artifacts: { [words]: { before: null, after: words } },
    notes: { [words]: { before: null, after: words } },
  });
  const html = new MarkdownIt({ html: true });

  it.each(nasty)("can't act: %j", (words) => {
    const page = html.render(markdown(done, hostile(words), extra(words)));
    expect(
      page.match(
        /<(?!\/?(h3|p|ul|li|table|thead|tbody|tr|th|td|strong|em|code|pre|a|details|summary)\b)[^>]*>/g,
      ),
    ).toBeNull();
    expect(page.match(/<details>/g)?.length).toBe(page.match(/<\/details>/g)?.length);
    expect(page.replace(/<pre>[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>|href="https:[^"]*"/g, "")).not.toMatch(
      /@octocat|href="javascript/,
    );
    expect(page.match(/<h\d/g)).toEqual(["<h3"]);
    expect(page.match(/<table>/g)).toHaveLength(1);
  });

  it.each(nasty)("can't act on a terminal: %j", (words) => {
    const shown = text(done, hostile(words), { extra: extra(words) });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it("never makes a comment longer than GitHub takes, and says that it was cut", () => {
    const long = Array.from(
      { length: 60 },
      (_, n) => [`file-${n}.md`, `${n}\n${"`|<@a".repeat(4_000)}`] as const,
    );
    const shown = markdown(
      done,
      later({ artifacts: Object.fromEntries(long.map(([path, words]) => [path, anArtifact(path, words)])) }),
      { artifacts: Object.fromEntries(long.map(([path, words]) => [path, { before: null, after: words }])) },
    );
    expect(shown.length).toBeLessThanOrEqual(60_000);
    expect(shown).toMatch(/_\d+ parts were left out here/);
    expect(shown.match(/<details>/g)?.length).toBe(shown.match(/<\/details>/g)?.length);
  });

  it("stays within the limit whatever it is", () => {
    const words = fc.string({
      unit: fc.constantFrom("`", "\n", "|", "<", "@a", "é", "😀", "\\"),
      maxLength: 400,
    });
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 300 }), (some, times) => {
        const long = some.repeat(times);
        const shown = markdown(done, hostile(long), extra(long));
        expect(shown.length).toBeLessThanOrEqual(60_000);
        expect(/\p{Cs}/u.test(shown)).toBe(false);
      }),
      { numRuns: 30 },
    );
  });
});

describe("a comparison in a terminal", () => {
  it("keeps to the width, with the same words in colour and without", () => {
    for (const width of [40, 60, 80, 120]) {
      const bare = text(failed, done, { extra: contents, width });
      for (const line of bare.split("\n")) expect([...line].length).toBeLessThanOrEqual(width);
      const painted = text(failed, done, { extra: contents, width, color: true });
      expect(painted).toContain("\u001b[32m");
      expect(stripVTControlCharacters(painted)).toBe(bare);
    }
  });

  it("says what a person needs first", () => {
    expect(text(specified, failed).split("\n").slice(0, 3)).toEqual([
      "✘ implementing failed: The gate tests failed.",
      "  · the gate tests fails now",
      "  · the gate lint passes now",
    ]);
  });

  it("shows diffs line by line", () => {
    expect(text(failed, done, { extra: contents })).toContain(
      "    │ -- tests need a browser\n    │ +- tests run in jsdom now\n",
    );
  });
});
