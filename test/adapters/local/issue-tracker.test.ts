import { execFileSync } from "node:child_process";
import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { createLocalIssueTracker } from "../../../src/adapters/local/issue-tracker.js";
import { replaceFile } from "../../../src/adapters/local/replace-file.js";
import type { IssueTracker } from "../../../src/ports.js";
import { useCheckout } from "./checkout.js";

const checkout = useCheckout();
const status = "<!-- crunch:status -->";
const reply = "<!-- crunch:reply:0123abcd -->";
let tracker: IssueTracker;
let said: { text: string; isNew: boolean }[] = [];

beforeEach(() => {
  said = [];
  tracker = createLocalIssueTracker({
    root: checkout.root,
    onComment: (text, { isNew }) => said.push({ text, isNew }),
  });
});

const path = (name = "issue.md", issue = 1) => join(checkout.root, `.claude/crunch/${issue}/${name}`);
const write = (text: string | Buffer, issue = 1) =>
  checkout.write({ [`.claude/crunch/${issue}/issue.md`]: text });
const read = (name?: string) => readFile(path(name), "utf8");

describe("an issue", () => {
  it("is read from its file", async () => {
    await write(
      "---\nlabels: [bug, state:enrich]\nassignees: [ana]\nmine: 1\n---\n\n# Fix  it \n\n  code\n\n## More\n\n",
    );
    expect(await tracker.issue(1)).toEqual({
      number: 1,
      title: "Fix  it",
      body: "  code\n\n## More",
      labels: ["bug", "state:enrich"],
      assignees: ["ana"],
      isOpen: true,
      url: pathToFileURL(path()).href,
    });
  });

  it("may be a title alone", async () => {
    await write("# Fix it");
    expect(await tracker.issue(1)).toMatchObject({
      title: "Fix it",
      body: "",
      labels: [],
      assignees: [],
      isOpen: true,
    });
  });

  it("that is malformed is refused with the file and the line", async () => {
    const wrong: [string | Buffer, string][] = [
      ["", "line 1: the title is missing"],
      ["\n\nFix it\n", "line 3: the title is missing"],
      ["---\nstate: open\n---\n\n#\n", "line 5: the title is missing"],
      ["---\nstate: open\n# T\n", "line 1: the front matter that begins here has no closing"],
      ["---\nlabels: [a]\nstate: done\n---\n# T", "line 3: state: expected open or closed"],
      ["---\n\nlabels:\n  - a\n  - state: enrich\n---\n# T", "line 5: labels: expected a list of names"],
      ["---\nassignees: ana\n---\n# T", "line 2: assignees: expected a list of names"],
      ["---\n- a\n---\n# T", "line 2: expected keys with values"],
      ["---\nstate: open\nstate: closed\n---\n# T", 'line 3: the key "state" appears twice'],
      ["---\nlabels: [a\n---\n# T", "this is not valid YAML"],
      [Buffer.from([0x23, 0x20, 0xff]), "line 1: the file is not UTF-8"],
      ["x".repeat(1024 * 1024 + 1), "line 1: the file has more than"],
    ];
    for (const [text, message] of wrong) {
      await write(text);
      const refused = await tracker.issue(1).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: "issue_file_invalid",
        hint: expect.stringContaining("issue.md"),
      });
      expect(refused).toHaveProperty("message", expect.stringContaining(".claude/crunch/1/issue.md, line "));
      expect(refused).toHaveProperty("message", expect.stringContaining(message));
    }
  });

  it("that is missing, or no plain file, is told, and how to write one", async () => {
    const missing = { code: "issue_missing", message: expect.stringContaining(".claude/crunch/1/issue.md") };
    await expect(tracker.issue(1)).rejects.toMatchObject(missing);
    await write("# T");
    execFileSync("rm", [path()]);
    execFileSync("mkfifo", [path()]);
    await expect(tracker.issue(1)).rejects.toMatchObject(missing);
  });

  it("is among the open ones until it is closed", async () => {
    const labels = ["state:enrich", "state:docs"];
    expect(await tracker.openIssues(labels)).toEqual([]);
    for (const issue of [10, 2, 1]) await write(`---\nlabels: [state:docs]\n---\n# Issue ${issue}`, issue);
    await write("---\nstate: closed\nlabels: [state:docs]\n---\n# Closed", 3);
    await write("---\nlabels: [bug]\n---\n# Another", 5);
    await checkout.write({ ".claude/crunch/4/spec.md": "", ".claude/crunch/notes/issue.md": "" });
    expect((await tracker.openIssues(labels)).map(({ number }) => number)).toEqual([1, 2, 10]);
  });
});

describe("labels", () => {
  it("are written back into the file, which keeps its mode and all else", async () => {
    await write("---\nstate: open\nlabels: [state:enrich] # mine\n---\n# T\n\nbody  \n");
    await chmod(path(), 0o666);
    await tracker.addLabel(1, "state:ready");
    await tracker.addLabel(1, "state:ready");
    await tracker.removeLabel(1, "state:enrich");
    expect(await read()).toBe("---\nstate: open\nlabels: [state:ready] # mine\n---\n# T\n\nbody  \n");
    expect((await stat(path())).mode & 0o777).toBe(0o666);
    expect(await readdir(path("."))).toEqual(["issue.md"]);
  });

  it("that need no change leave the file alone", async () => {
    await write("---\nlabels: [ a ]\n---\n# T");
    const { ino } = await stat(path());
    await tracker.addLabel(1, "a");
    await tracker.removeLabel(1, "b");
    expect((await stat(path())).ino).toBe(ino);
  });

  it("added at the same time are all kept", async () => {
    await write("# T\n");
    const adding = ["a", "b", "c", "d"].map((label) => tracker.addLabel(1, label));
    await Promise.all(adding);
    expect((await tracker.issue(1)).labels).toEqual(["a", "b", "c", "d"]);
  });
});

it("a file that was saved by somebody else meanwhile is not overwritten", async () => {
  await write("# Edited");
  expect(await replaceFile(path(), Buffer.from("# Ours"), Buffer.from("# Before"))).toBe(false);
  expect(await replaceFile(path(), Buffer.from("# Ours"), null)).toBe(false);
  expect(await readdir(path("."))).toEqual(["issue.md"]);
  expect(await read()).toBe("# Edited");
});

describe("comments", () => {
  it("are files that are edited in place, and handed on when they change", async () => {
    await write("# T");
    const id = await tracker.upsertComment(1, status, "working", null);
    expect(await tracker.upsertComment(1, status, "working", id)).toBe(id);
    expect(await tracker.upsertComment(1, status, "done", null)).toBe(id);
    expect(await readdir(path("comments"))).toEqual(["status.md"]);
    expect(await read("comments/status.md")).toBe(`${status}\ndone\n`);
    expect(said).toEqual([
      { text: "working", isNew: true },
      { text: "done", isNew: false },
    ]);
    expect(id).toBeGreaterThan(0);
    expect(Number.isSafeInteger(id)).toBe(true);
  });

  it("that answer something are written once, also by another process later", async () => {
    await write("# T");
    expect(await tracker.replyOnce(1, reply, "no")).toBe("posted");
    const later = createLocalIssueTracker({ root: checkout.root, onComment: () => {} });
    expect(await later.replyOnce(1, reply, "no")).toBe("already there");
    expect(await later.replyOnce(1, "<!-- ../../evil -->", "x")).toBe("posted");
    expect((await readdir(path("comments"))).sort()).toEqual([
      expect.stringMatching(/^[0-9a-f]{16}\.md$/),
      "reply.0123abcd.md",
    ]);
    expect(said).toEqual([{ text: "no", isNew: true }]);
  });

  it("left half written by a crash do not count", async () => {
    await write("# T");
    await checkout.write({ ".claude/crunch/1/comments/.reply.0123abcd.md.1-ff.tmp": "<!-- half" });
    expect(await tracker.replyOnce(1, reply, "whole")).toBe("posted");
    expect(await read("comments/reply.0123abcd.md")).toBe(`${reply}\nwhole\n`);
  });

  it("on an issue that does not exist are told, and leave no folder behind", async () => {
    expect(await tracker.replyOnce(9, reply, "there is none")).toBe("posted");
    expect(said).toEqual([{ text: "there is none", isNew: true }]);
    await expect(readdir(join(checkout.root, ".claude"))).rejects.toThrow("ENOENT");
  });
});

it("whoever runs Crunch here may do all of it", async () => {
  expect(await tracker.permissionOf("ana")).toBe("admin");
  await tracker.react(1, "eyes");
});
