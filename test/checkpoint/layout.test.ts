import { describe, expect, it } from "vitest";
import { createLayout, defaultLayout, issueFolder } from "../../src/checkpoint/layout.js";

describe("where a chain's files are", () => {
  it("by default", () => {
    expect(issueFolder(42)).toBe(".claude/crunch/42");
    expect(defaultLayout.checkpoint("CP-enrich-20250114-a3f2")).toBe(
      "checkpoints/CP-enrich-20250114-a3f2.yaml",
    );
    expect(defaultLayout.checkpoint("CP-enrich-20250114-a3f2", true)).toMatch(/\.yaml\.gz$/);
    expect([defaultLayout.index, defaultLayout.latest]).toEqual([
      "checkpoints/index.yaml",
      "checkpoints/latest",
    ]);
    expect(defaultLayout.page(1)).toBe("checkpoints/index-0001.yaml");
    expect(defaultLayout.parent).toBe(".claude/crunch");
  });

  it("or where the configuration says", () => {
    const layout = createLayout("state/issue-{issue}/of/chain");
    expect(layout.folder(42)).toBe("state/issue-42/of");
    expect(layout.index).toBe("chain/index.yaml");
    expect(layout.parent).toBe("state");
    expect(["issue-42", "issue-042", "issue-", "42", "issue-42x"].map(layout.issueNamed)).toEqual([
      ...[42, null, null, null, null],
    ]);
    expect(createLayout("{issue}/checkpoints").parent).toBe("");
  });

  it.each([
    "",
    "checkpoints",
    "{issue}",
    "crunch/{issue}",
    "/srv/{issue}/checkpoints",
    "../{issue}/checkpoints",
    "a/../{issue}/checkpoints",
    "a//{issue}/checkpoints",
    "a\\{issue}/checkpoints",
    "{issue}/{issue}/checkpoints",
    "{issue}/{phase}/checkpoints",
    ".git/{issue}/checkpoints",
    "a b/{issue}/checkpoints",
    "{issue}/artifacts",
    "{issue}/checkpoints/",
    "{issue}/..",
  ])("%j is refused", (location) => {
    expect(() => createLayout(location)).toThrow(/can't be where checkpoints are stored/);
  });
});
