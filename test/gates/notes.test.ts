import { describe, expect, it } from "vitest";
import type { GateContext } from "../../src/gates/gate.js";
import { createGate } from "../../src/gates/index.js";
import { notesStatus } from "../../src/gates/notes-status.js";

function context(notes: Readonly<Record<string, string>>): GateContext {
  return {
    directory: "/nowhere",
    outputs: new Map(),
    notes: new Map(Object.entries(notes)),
    commands: { run: () => Promise.reject(new Error("no command is run here")) },
    signal: new AbortController().signal,
  };
}

function verdictOn(
  notes: Readonly<Record<string, string>>,
  wanted: { roles?: string[]; sections?: string[]; step?: string },
) {
  const { roles = ["test"], sections = [], step } = wanted;
  const gate = createGate(
    { type: "notes", name: "notes", roles, sections, ...(step !== undefined && { step }) },
    "code-review",
  );
  return gate.evaluate(context(notes));
}

/** What is missing in the notes of `test`. */
const observed = async (notes: string) =>
  (await verdictOn({ test: notes }, { sections: ["Observations"] })).summary;
const complete = "the notes of test are complete";
const nothingThere = 'test has nothing under "Observations"';
const noSection = 'test has no section "Observations"';

describe("a section of the notes", () => {
  it.each([
    ["any level", "#### Observations\nIt leaks."],
    ["more words", "### Observations (for reviewers)\nIt leaks."],
    ["another case", "## OBSERVATIONS\n- it leaks"],
    ["marks in it", "## **Observations**: `api`\n1. it leaks"],
    ["a line under it", "Observations\n------------\n\nIt leaks."],
    ["text under nested headings", "# Observations\n<!-- all -->\n## Speed\n### Start\nIt is slow."],
    ["only code under it", "## Observations\n```js\nleak();\n```"],
    ["a table under it", "## Observations\n| what |\n|---|\n| leak |"],
    ["only a mark under it", "## Observations\n👍"],
    ["plain HTML under it", "## Observations\n<details>\nIt leaks.\n</details>"],
    ["a placeholder that was only half replaced", "## Observations\n- {what} It leaks."],
    ["an empty one before it", "## Observations\nTBD\n## Observations\nIt leaks."],
  ])("may have %s", async (_, notes) => {
    expect(await observed(notes)).toBe(complete);
  });

  it.each([
    ["nothing", ""],
    ["blank lines", "\n \n\t\n"],
    ["a comment", "<!-- What did you notice?\n\nWhat informed your verdict? -->"],
    ["a comment in a list", "- <!-- what you noticed -->"],
    ["a comment without an end", "<!-- It leaks."],
    ["a placeholder", "{what you noticed}"],
    ["placeholders with marks", "- **{what}**\n- `{why}`."],
    ["a placeholder over two lines", "{what\nyou noticed}"],
    ["a label with a placeholder", "- Noticed: {what}"],
    ["empty list items", "-\n- \n*"],
    ["an empty task", "- [ ] "],
    ["a line", "---"],
    ["empty code", "```\n\n```"],
    ["a definition of a link", "[//]: # (it leaks)"],
    ["an empty heading", "#### Speed"],
    ["TODO", "TODO"],
    ["TBD in a list", "- **tbd**."],
    ["n/a", "N/A"],
    ["TODO and a placeholder", "TODO: {what}"],
  ])("is missing when there is only %s under it", async (_, content) => {
    expect(await observed(`## Observations\n${content}`)).toBe(nothingThere);
  });

  it("ends at the next heading of its level, or of a higher one", async () => {
    expect(await observed("### Observations\n### Key Decisions\nA cache.")).toBe(nothingThere);
    expect(await observed("### Observations\n## Status\n- Step completed: review")).toBe(nothingThere);
  });

  it("is no heading inside code, a comment, a quote or a list", async () => {
    for (const notes of [
      "# Notes\n```md\n## Observations\nIt leaks.\n```",
      "# Notes\n<!--\n## Observations\nIt leaks.\n-->",
      "# Notes\n> ## Observations\n> It leaks.",
      "# Notes\n- ## Observations\n  It leaks.",
      "# Notes\n\n    ## Observations\n    It leaks.",
    ])
      expect(await observed(notes)).toBe(noSection);
  });

  it("begins with the whole words", async () => {
    expect(await observed("## Observationsx\nIt leaks.")).toBe(noSection);
    expect(await observed("## My Observations\nIt leaks.")).toBe(noSection);
  });
});

describe("a notes gate", () => {
  it("names every role and section that is missing", async () => {
    const verdict = await verdictOn(
      { implementer: "## Patterns Discovered\nStores are ports.\n## Gotchas Encountered\nTBD", test: " \n" },
      {
        roles: ["implementer", "security", "test"],
        sections: ["Patterns Discovered", "Gotchas Encountered"],
      },
    );
    expect(verdict.status).toBe("failed");
    expect(verdict.summary).toBe(
      'implementer has nothing under "Gotchas Encountered"; security has no notes; test has no notes',
    );
    expect(verdict.details).toContain('- implementer has nothing under "Gotchas Encountered"\n- security');
  });

  it("wants the step to be the one that is completed", async () => {
    const step = "reflection";
    const said = (line: string) => verdictOn({ test: `## Status\n- Step completed: ${line}` }, { step });
    for (const line of ["reflection", "Reflection.", "**reflection** ✅", "`reflection` (2nd round)"])
      expect(await said(line)).toMatchObject({ status: "passed", summary: complete });
    for (const line of ["{implementation|review|reflection}", "implementation|review|reflection", "", "TBD"])
      expect((await said(line)).status).toBe("failed");
    expect((await said("review")).summary).toBe(
      'test does not say that the step "reflection" is completed, but "review"',
    );
    expect((await verdictOn({ test: "Reflected." }, { step })).summary).toBe(
      'test does not say that the step "reflection" is completed',
    );
  });

  it("shows what agents wrote as text, not as Markdown", async () => {
    const verdict = await verdictOn(
      { test: "## Status\n- Step completed: a \\<b>@mona" },
      { step: "reflection" },
    );
    expect(verdict.details).toContain("a &lt;b>@\u200bmona");
  });
});

describe("the status in the notes", () => {
  it.each([
    ["brackets", `## Status\nStep completed: ${"(".repeat(250_000)}`],
    ["marks", `## Status\nStep completed: a${"!".repeat(250_000)}a`],
    ["half tags", `## Status\n<div>${"<".repeat(250_000)}`],
    ["braces", `## Status\n${"{".repeat(250_000)}`],
    ["headings", "## Status\n".repeat(25_000)],
  ])("is soon looked for in notes full of %s", (_, notes) => {
    const began = performance.now();
    notesStatus(notes);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it("has the step and a reviewer's verdict", () => {
    const notes = "## Status\n- Step completed: review\n- Verdict (if reviewer): APPROVED\n- Timestamp: now";
    expect(notesStatus(notes)).toEqual({ step: "review", verdict: "APPROVED" });
    expect(notesStatus("### status\nVerdict: **findings** (2)")).toEqual({ step: null, verdict: "FINDINGS" });
  });

  it("is the last that the notes say", () => {
    const round = (step: string, verdict: string) =>
      `## Status\n- Step completed: ${step}\n- Verdict (if reviewer): ${verdict}\n`;
    const notes = round("review", "FINDINGS") + round("review", "APPROVED");
    expect(notesStatus(notes)).toEqual({ step: "review", verdict: "APPROVED" });
    expect(notesStatus(notes + round("reflection", "{APPROVED|FINDINGS}"))).toEqual({
      step: "reflection",
      verdict: "APPROVED",
    });
  });

  it.each([
    [
      "the template",
      "## Status\n- Step completed: {implementation|review|reflection}\n- Verdict (if reviewer): {APPROVED|FINDINGS}",
    ],
    ["the template without braces", "## Status\n- Verdict (if reviewer): APPROVED|FINDINGS"],
    ["other words", "## Status\n- Verdict: not approved"],
    ["code", "## Status\n```\nStep completed: review\nVerdict: APPROVED\n```"],
    ["another section", "## Observations\n- Step completed: review\n- Verdict: APPROVED"],
    ["nothing", ""],
  ])("is not there in %s", (_, notes) => {
    expect(notesStatus(notes)).toEqual({ step: null, verdict: null });
  });
});
