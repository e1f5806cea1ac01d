import { describe, expect, it } from "vitest";
import type { GateResult } from "../../src/checkpoint/schema.js";
import { standingOf } from "../../src/engine/standing.js";
import { fenced, plain, shortened } from "../../src/markdown.js";
import { duration } from "../../src/render/duration.js";
import { progressPercent, renderStatus, type StatusView } from "../../src/render/status.js";
import { aCheckpoint, aGateResult, approved, type Statuses, unattended } from "../builders.js";

type Given = Partial<Omit<StatusView, "checkpoint">> &
  Omit<NonNullable<Parameters<typeof aCheckpoint>[0]>, "workflow"> & { readonly advance?: "auto" | "manual" };

function rendered({
  workflow = unattended,
  advance = "auto",
  standing,
  pullRequest = null,
  isLabelRemoved = false,
  hasDiverged = false,
  areChecksShown = true,
  remarks = [],
  ...given
}: Given = {}): string {
  const checkpoint = aCheckpoint({ ...given, workflow });
  const checkpointUrl = `https://github.test/files/checkpoints/${checkpoint.checkpoint_id}.yaml`;
  return renderStatus({
    ...{
      checkpoint,
      workflow,
      pullRequest,
      isLabelRemoved,
      hasDiverged,
      areChecksShown,
      isPictured: true,
      remarks,
      checkpointUrl,
    },
    standing: standing ?? standingOf(workflow, checkpoint.orchestrator_state.phases, advance),
  });
}

const headline = (text: string) => text.split("\n")[0];
const lineWith = (text: string, part: string) => text.split("\n").find((line) => line.includes(part)) ?? "";
const row = (text: string, phase: string) => lineWith(text, `| \`${phase}\` |`);
const next = (text: string) => lineWith(text, "**What next:**").replace("**What next:** ", "");

/** What an agent says it did in a phase. */
const saying = (phase: string, output_summary: string) => ({
  agent_outputs: {
    builder: { [phase]: { completed_at: "2025-01-14T10:00:00.000Z", output_summary, output_location: null } },
  },
});
const failure = (message: string) => ({
  phases: { enrich: "failed" } satisfies Statuses,
  error: { code: "agent_failed", message, hint: "Comment `/crunch` to try again." },
});
const gated = (quality_gates: GateResult[]) => ({
  governance_results: { quality_gates, compliance_checks: [], passed: true },
});
const finished: Statuses = {
  ...{ enrich: "succeeded", ready: "skipped", implementing: "succeeded" },
  ...{ validation: "succeeded", docs: "succeeded" },
};

describe("what a person reads", () => {
  it.each<[string, Given, string, string]>([
    [
      "a phase is running",
      { phases: { enrich: "running" } },
      "### ⏳ Crunch is working on `enrich` · 0 %",
      "nothing to do for you; this comment is kept up to date.",
    ],
    [
      "the next phase is about to begin",
      { phases: { enrich: "succeeded", ready: "skipped" } },
      "### ⏳ Crunch goes on with `implementing` · 40 %",
      "nothing to do for you; this comment is kept up to date.",
    ],
    [
      "the next phase waits for its label",
      { phases: { enrich: "succeeded", ready: "skipped" }, advance: "manual" },
      "### ✋ `enrich` is done, `implementing` waits for its label · 40 %",
      "add the label `state:implementing` to go on.",
    ],
    [
      "a person has to approve",
      { phases: { enrich: "succeeded", ready: "waiting" }, workflow: approved },
      "### ✋ `ready` waits for your approval · 20 %",
      "add the label `state:implementing` to approve.",
    ],
    [
      "a phase failed",
      failure("It broke."),
      "### ❌ `enrich` failed · 0 %",
      "Comment `/crunch` to try again.",
    ],
    [
      "a phase failed and nobody noted why",
      { phases: { enrich: "failed" } },
      "### ❌ `enrich` failed · 0 %",
      "Comment `/crunch` to try again.",
    ],
    [
      "the work is done",
      { phases: finished },
      "### ✅ Crunch is done · 100 %",
      "close the issue if you agree.",
    ],
    [
      "the work is done, with a pull request",
      { phases: finished, pullRequest: 7 },
      "### ✅ Crunch is done · 100 %",
      "review and merge #7.",
    ],
    [
      "somebody took the label off",
      { phases: { enrich: "succeeded", ready: "skipped" }, isLabelRemoved: true },
      "### ⏸️ Crunch stopped before `implementing` · 40 %",
      "the state label was removed, so nothing runs. Add `state:implementing` to go on.",
    ],
    [
      "somebody took the label off when all was done",
      { phases: finished, isLabelRemoved: true },
      "### ✅ Crunch is done · 100 %",
      "close the issue if you agree.",
    ],
  ])("when %s", (_, given, expectedHeadline, expectedNext) => {
    const text = rendered(given);
    expect(headline(text)).toBe(expectedHeadline);
    expect(next(text)).toBe(expectedNext);
  });

  it("every phase but the end has a row with its state, its attempts and what was done", () => {
    const text = rendered({
      phases: { enrich: "succeeded", ready: "skipped", implementing: { status: "running", attempt: 2 } },
      ...saying("enrich", "Wrote the specification"),
    });
    expect(row(text, "enrich")).toBe("| ✅ | `enrich` | succeeded | Wrote the specification |");
    expect(row(text, "ready")).toBe("| ➖ | `ready` | skipped |  |");
    expect(row(text, "implementing")).toBe("| ⏳ | `implementing` | running (attempt 2) |  |");
    expect(row(text, "docs")).toBe("| ▫️ | `docs` | pending |  |");
    expect(row(text, "done")).toBe("");
  });

  it("the checkpoint is linked to its file, and the pull request is named", () => {
    const line = lineWith(rendered({ pullRequest: 7 }), "**Checkpoint:**");
    expect(line).toMatch(
      /^\*\*Checkpoint:\*\* \[`(CP-[\w-]+)`\]\(https:\/\/github\.test\/files\/checkpoints\/\1\.yaml\)/,
    );
    expect(line).toContain(" · **Pull request:** #7");
  });

  it("a failure says why, and shows the end of what was printed", () => {
    const text = rendered({
      ...failure("The agent gave up."),
      metadata: { output_tail: "line 1\nline 2\n" },
    });
    expect(text).toContain("**Why:** The agent gave up.");
    expect(text).toContain("```text\nline 1\nline 2\n```");
    expect(rendered(failure("Silence."))).not.toContain("<details>");
  });

  it("every gate has a line with its result; one that was skipped has not passed", () => {
    const quality_gates = [
      aGateResult({ name: "tests", status: "passed", summary: "npm test: exit code 0" }),
      aGateResult({ name: "lint", status: "failed", summary: "npm run lint: exit code 1" }),
      aGateResult({ name: "audit", status: "skipped", summary: "its phase was skipped" }),
    ];
    const text = rendered(gated(quality_gates));
    expect(text).toContain("- ✅ **tests**: npm test: exit code 0");
    expect(text).toContain("- ❌ **lint**: npm run lint: exit code 1");
    expect(text).toContain("- ➖ **audit**: its phase was skipped");
  });

  it("gates that can't be shown as checks say what is missing", () => {
    expect(rendered({ areChecksShown: false })).toContain("`checks: write`");
    expect(rendered()).not.toContain("checks: write");
  });

  it("a branch that somebody else moved is mentioned", () => {
    expect(next(rendered({ hasDiverged: true }))).toContain("The branch was moved by somebody else");
  });
});

describe("the progress", () => {
  it.each<[number, Statuses]>([
    [0, {}],
    [0, { enrich: "running" }],
    [20, { enrich: "succeeded", ready: "waiting" }],
    [40, { enrich: "succeeded", ready: "skipped", implementing: "failed" }],
    [80, { ...finished, docs: "running" }],
    [100, finished],
  ])("is %i %% with %j", (percent, phases) => {
    expect(progressPercent(unattended, aCheckpoint({ phases }))).toBe(percent);
  });
});

describe("text of others", () => {
  const hostile =
    "@octocat @org/team <!-- crunch:status --> <img src=x onerror=y> | a\nb\r\n| **x** [l](u) `c` \\";

  /** The places where the status shows what agents, gates and programs said. */
  const places: [string, (text: string) => Given][] = [
    ["an agent's summary", (text) => saying("enrich", text)],
    ["an error", failure],
    ["a gate's name and summary", (text) => gated([aGateResult({ name: text, summary: text })])],
  ];

  it.each(places)("mentions nobody, has no HTML and no marker: %s", (_, given) => {
    const text = rendered(given(hostile));
    expect(text).toContain("octocat");
    expect(text).not.toMatch(/@\w/);
    expect(text).not.toContain("<");
    expect(text).toContain("\\| \\*\\*x\\*\\* \\[l\\](u) \\`c\\` \\\\");
  });

  it.each(places)("adds no line: %s", (_, given) => {
    expect(rendered(given(hostile)).split("\n")).toHaveLength(rendered(given("calm")).split("\n").length);
  });

  it("stays in its cell of the table", () => {
    const cells = row(rendered(saying("enrich", "a | b \\| c\n| d |")), "enrich").split(/(?<!\\)(?:\\\\)*\|/);
    expect(cells.map((cell) => cell.trim())).toEqual([
      ...["", "⏳", "`enrich`", "running", "a \\| b \\\\\\| c \\| d \\|", ""],
    ]);
  });

  it("is cut after 300 characters, never in the middle of one, and shows that it was", () => {
    const cell = row(rendered(saying("enrich", `${"x".repeat(298)}🦀🦀🦀`)), "enrich").split(" | ")[3];
    expect(cell).toBe(`${"x".repeat(298)}🦀… |`);
    expect(row(rendered(saying("enrich", "<".repeat(400))), "enrich")).toContain(`${"&lt;".repeat(299)}… |`);
  });

  it("that a program printed can't close its fence, however it tries", () => {
    const output_tail = "```\n</details>\n<!-- crunch:status -->\n````\n@octocat";
    const text = rendered({ ...failure("It broke."), metadata: { output_tail } });
    expect(text).toContain(`\n\`\`\`\`\`text\n${output_tail}\n\`\`\`\`\`\n</details>`);
  });

  it("is never the beginning of the comment, where Crunch looks for its marker", () => {
    const marker = "<!-- crunch:status -->";
    const text = rendered({ ...failure(marker), metadata: { output_tail: marker } });
    expect(text).toMatch(/^### ❌/);
  });
});

describe("harmless text", () => {
  it.each([
    ["a mention", "ask @mona", "ask @\u200bmona"],
    ["an e-mail address", "a@b.c", "a@\u200bb.c"],
    ["an entity that would be a mention", "&#64;mona &commat;mona", "&amp;#\u200b64;mona &amp;commat;mona"],
    ["HTML", "<script>", "&lt;script>"],
    ["emphasis", "*a* _b_ ~c~", "\\*a\\* \\_b\\_ \\~c\\~"],
    ["an image", "![x](http://y)", "!\\[x\\](http://y)"],
    ["an escape that would undo ours", "\\|", "\\\\\\|"],
    ["text that runs from right to left", "a\u202eb\u2066c", "a b c"],
    ["NUL and escape codes", "a\u0000b\u001b[31m", "a b \\[31m"],
    ["plain words", "It is done: 3 files, 100 %.", "It is done: 3 files, 100 %."],
  ])("is made of %s", (_, text, expected) => {
    expect(plain(text)).toBe(expected);
  });

  it("is kept whole when it is short enough", () => {
    expect(shortened("🦀🦀", 2)).toBe("🦀🦀");
    expect(shortened("🦀🦀🦀", 2)).toBe("🦀…");
  });

  it("in a fence has a fence longer than any inside", () => {
    expect(fenced("a", "yaml")).toBe("```yaml\na\n```");
    expect(fenced("a ````` b")).toBe("``````text\na ````` b\n``````");
  });
});

describe("a duration", () => {
  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [1000, "1 s"],
    [59_400, "59 s"],
    [59_600, "1 min 0 s"],
    [61_000, "1 min 1 s"],
    [3_600_000, "1 h 0 min"],
    [5_430_000, "1 h 30 min"],
  ])("of %i ms is %s", (ms, expected) => {
    expect(duration(ms)).toBe(expected);
  });
});
