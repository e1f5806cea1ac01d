import { describe, expect, it } from "vitest";
import { plain } from "../../src/markdown.js";
import { renderPullRequest } from "../../src/render/pull-request.js";
import { aCheckpoint } from "../builders.js";

/** What GitHub makes a mention, a reference or a closing keyword of. */
const steers =
  /@\w|(?:^|[\s(])[\w./-]*#\d|\bGH-\d|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:https?:|[\w./-]*#\d)/i;

/** With the `u` flag, a surrogate matches only where the other half is missing. */
const half = /[\u{D800}-\u{DFFF}]/u;

describe("text of others", () => {
  it.each([
    "Fixes #1",
    "closes other/repo#2",
    "Resolves: GH-3",
    "fixed https://github.com/octo/app/issues/4",
    "see #5, gh-6 and @mona",
    "(#7)",
  ])("does nothing on GitHub: %s", (text) => {
    expect(text).toMatch(steers);
    expect(plain(text)).not.toMatch(steers);
    expect(plain(text).replaceAll("\u200b", "")).toBe(text);
  });

  it("keeps plain addresses and other numbers", () => {
    const text = "https://github.com/octo/app/issues/4 and # 5, C#, item 6";
    expect(plain(text)).toBe(text);
  });
});

describe("the pull request", () => {
  const { issue_snapshot, ...rest } = aCheckpoint();
  const withTitle = (title: string, summary = "") => {
    const output = {
      completed_at: rest.created_at,
      output_summary: summary,
      output_location: null,
    };
    const agent_outputs = { coder: { implementing: output } };
    return renderPullRequest({ ...rest, agent_outputs, issue_snapshot: { ...issue_snapshot, title } });
  };

  it("closes its own issue and no other, whatever the issue's title says", () => {
    const { title, body } = withTitle("Fixes #1 and other/repo#2", "Resolves GH-9");
    expect(title.replace(/ \(#42\)$/, "")).not.toMatch(steers);
    expect(title).toMatch(/ \(#42\)$/);
    expect(body.replaceAll("#42", "")).not.toMatch(steers);
  });

  it("has whole characters where it is cut", () => {
    const { title, body } = withTitle("😀".repeat(300), `x${"😀".repeat(300)}`);
    expect(title).not.toMatch(half);
    expect(body).not.toMatch(half);
  });
});
