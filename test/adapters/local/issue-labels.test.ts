import { describe, expect, it } from "vitest";
import { parseIssue } from "../../../src/adapters/local/issue-file.js";
import { withLabels } from "../../../src/adapters/local/issue-labels.js";

const file = ".claude/crunch/1/issue.md";
const change = (text: string, ...labels: string[]) => withLabels(text, labels, file);
const document = (...lines: string[]) => lines.join("\n");

describe("labels are changed, and nothing else", () => {
  it("on one line, with the remark at its end", () => {
    const before = document(
      "---",
      "state: open   # yes",
      "labels: [bug]  # mine",
      "x: { y: 1 }",
      "---",
      "# T",
      "",
      "b ",
    );
    expect(change(before, "bug", "state:enrich")).toBe(before.replace("[bug]", "[bug, state:enrich]"));
    expect(change(before)).toBe(before.replace("[bug]", "[]"));
  });

  it("in a list, however it is indented", () => {
    for (const indent of ["", "  ", "    "]) {
      const list = (...labels: string[]) => labels.map((label) => `${indent}- ${label}`);
      const around = (...lines: string[]) =>
        document("---", "# above", ...lines, "", "# about who", "assignees: [ana]", "---", "# T");
      const before = around("labels:", ...list("bug", "'state:enrich'"));
      expect(change(before, "bug", "state:ready")).toBe(around("labels:", ...list("bug", "state:ready")));
      expect(change(before)).toBe(around("labels: []"));
    }
  });

  it("in a flow that goes over several lines", () => {
    const before = document("---", "labels: [", "  a,", "  b", "  ]", "state: open", "---", "# T");
    expect(change(before, "a")).toBe(document("---", "labels:", "  - a", "state: open", "---", "# T"));
  });

  it("where there were none yet", () => {
    expect(change("# T\n\nbody\n", "a")).toBe("---\nlabels: [a]\n---\n# T\n\nbody\n");
    expect(change("---\nstate: open\n---\n# T", "a")).toBe("---\nstate: open\nlabels: [a]\n---\n# T");
    expect(change("---\n---\n# T", "a")).toBe("---\nlabels: [a]\n---\n# T");
    expect(change("---\nlabels:\nstate: open\n---\n# T", "a")).toBe(
      "---\nlabels: [a]\nstate: open\n---\n# T",
    );
  });

  it("with Windows line ends and a byte order mark", () => {
    expect(change("\uFEFF# T\r\nb\r\n", "a")).toBe("\uFEFF---\r\nlabels: [a]\r\n---\r\n# T\r\nb\r\n");
    const before = "\uFEFF---\r\nlabels: [a]\r\nstate: open\r\n---\r\n\r\n# T\r\n\r\nb\r\n";
    expect(change(before, "b")).toBe(before.replace("[a]", "[b]"));
    expect(parseIssue(before, file)).toMatchObject({ title: "T", body: "b", labels: ["a"] });
  });

  it("with names that need quotes", () => {
    const names = ["a, b", "yes", "#1", "x: y", '"', "ü", "-", "[z]", "null"];
    for (const text of ["# T\n", "---\nlabels:\n  - a\n  - b\n---\n# T\n"]) {
      expect(parseIssue(change(text, ...names), file).labels).toEqual(names);
    }
  });

  it("or it is refused, with the place", () => {
    const text = document("---", "{ labels: [a],", "  state: closed }", "---", "# T");
    expect(() => change(text, "b")).toThrow(`${file}, line 2: Crunch can't change the labels here`);
  });
});
