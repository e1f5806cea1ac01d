import { describe, expect, it } from "vitest";
import { commandList, commands } from "../../src/commands/index.js";
import { parseArguments, parseCommand } from "../../src/commands/parse.js";

const ok = (command: object) => ({ status: "ok", command });
const run = ok({ name: "run" });
const status = ok({ name: "status" });
const checkpoint = (note: string | null) => ok({ name: "checkpoint", note });

describe("a comment that is a command", () => {
  it.each([
    ["/crunch", run],
    ["/crunch   ", run],
    ["/crunch\r\nThanks!", run],
    ["/crunch\n\nplease", run],
    ["/crunch status", status],
    ["/crunch\tstatus", status],
    ["/crunch --status", status],
    ["/crunch --checkpoint", checkpoint(null)],
    ["/crunch checkpoint", checkpoint(null)],
    ["/crunch --checkpoint before lunch", checkpoint("before lunch")],
    ["/crunch --checkpoint first line\nsecond line", checkpoint("first line")],
    ["/crunch --checkpoint `$(id)` & <b>", checkpoint("`$(id)` & <b>")],
  ])("%j is understood", (comment, expected) => {
    expect(parseCommand(comment)).toEqual(expected);
  });
});

describe("a command about checkpoints", () => {
  const id = "CP-enrich-20250114-a3f2";
  const plain = { name: "resume", checkpoint: null, isDryRun: false, isAccepted: false, keep: null };
  it.each([
    ["/crunch resume", ok(plain)],
    ["/crunch resume latest", ok(plain)],
    [`/crunch resume ${id} --dry-run`, ok({ ...plain, checkpoint: id, isDryRun: true })],
    [`/crunch resume --dry-run ${id}`, ok({ ...plain, checkpoint: id, isDryRun: true })],
    ["/crunch resume --accept --keep-theirs", ok({ ...plain, isAccepted: true, keep: "theirs" })],
    ["/crunch resume --keep-mine", ok({ ...plain, keep: "mine" })],
    [`/crunch rollback ${id}`, ok({ name: "rollback", checkpoint: id })],
    [`/crunch diff ${id} latest`, ok({ name: "diff", before: id, after: "latest" })],
    [`/crunch diff ${id}`, ok({ name: "diff", before: id, after: "latest" })],
    ["/crunch restart", ok({ name: "restart" })],
  ])("%j is understood", (comment, expected) => {
    expect(parseCommand(comment)).toEqual(expected);
  });

  it.each([
    ["/crunch resume ../../.github/workflows/x", /is not a checkpoint id/],
    ["/crunch rollback __proto__", /`__proto__` is not a checkpoint id/],
    ["/crunch rollback", /needs the id/],
    ["/crunch rollback latest", /needs the id/],
    [`/crunch rollback CP-a-20250114-${"a".repeat(300)}`, /is not a checkpoint id/],
    ["/crunch diff", /needs the id/],
    [`/crunch diff ${id} ${id} ${id}`, /at most 2/],
    ["/crunch resume --force", /no option `--force` here: it takes --dry-run/],
    ["/crunch resume --keep-mine --keep-theirs", /exclude each other/],
    ["/crunch restart now", /is not a checkpoint id/],
  ])("%j says why not", (comment, problem) => {
    const parsed = parseCommand(comment);
    expect(parsed).toMatchObject({ status: "unknown", problem: expect.stringMatching(problem) });
  });
});

describe("a comment that talks about Crunch", () => {
  it.each([
    ["in a quote", "> /crunch"],
    ["in a quote that is answered", "> /crunch status\n\nWhat does this do?"],
    ["in a code block", "```\n/crunch\n```"],
    ["in an indented code block", "    /crunch"],
    ["in a code span", "`/crunch`"],
    ["on a later line", "Try this:\n/crunch"],
    ["after a blank line", "\n/crunch"],
    ["in a sentence", "Use /crunch to go on"],
    ["as part of a word", "/cruncher"],
    ["as part of a path", "/crunch/status"],
    ["with something attached", "/crunch-status"],
    ["in a list", "- /crunch"],
    ["in an HTML comment", "<!-- -->/crunch"],
    ["in a comment of Crunch", "<!-- crunch:status -->\n/crunch"],
    ["in an empty comment", ""],
  ])("gives no command: %s", (_, comment) => {
    expect(parseCommand(comment)).toBeNull();
  });
});

describe("a command that can't be understood", () => {
  it.each([
    ["/crunch dance", "there is no command `dance`"],
    ["/crunch Status", "there is no command `Status`"],
    ["/crunch __proto__", "there is no command `__proto__`"],
    ["/crunch status now", "`status` takes no arguments"],
    ["/crunch --checkpointing", "there is no command `--checkpointing`"],
  ])("%j says why", (comment, problem) => {
    expect(parseCommand(comment)).toEqual({ status: "unknown", problem });
  });

  it("is repeated without what would mention people or break out of the text", () => {
    expect(parseCommand("/crunch `@everyone<img>")).toEqual({
      status: "unknown",
      problem: "there is no command `??everyone?img?`",
    });
    expect(parseCommand(`/crunch ${"x".repeat(500)}`)).toEqual({
      status: "unknown",
      problem: `there is no command \`${"x".repeat(60)}\``,
    });
  });

  it("says how long a note may be", () => {
    expect(parseCommand(`/crunch --checkpoint ${"x".repeat(2000)}`)).toMatchObject({ status: "ok" });
    expect(parseCommand(`/crunch --checkpoint ${"x".repeat(2001)}`)).toEqual({
      status: "unknown",
      problem: "the note has 2001 characters; 2000 is the most",
    });
  });
});

describe("the commands", () => {
  it("of a dispatch are written without the slash", () => {
    expect(parseArguments("")).toEqual(run);
    expect(parseArguments("status")).toEqual(status);
    expect(parseArguments("--checkpoint a note")).toEqual(checkpoint("a note"));
  });

  it.each(Object.entries(commands))("%s does what its usage says", (name, { usage }) => {
    const written = usage
      .replace("[id] <text>", "blue")
      .replace(/ \[.*$/, "")
      .replaceAll("<id>", "CP-enrich-20250114-a3f2");
    expect(parseCommand(written)).toMatchObject({ status: "ok", command: { name } });
  });

  it("have a name of their own each", () => {
    const words = Object.values(commands).flatMap((command) => command.words);
    expect(new Set(words).size).toBe(words.length);
  });

  it("are listed with what they do", () => {
    expect(commandList().split("\n")).toHaveLength(Object.keys(commands).length);
    expect(commandList()).toContain("- `/crunch status`: say where the work stands");
  });
});
