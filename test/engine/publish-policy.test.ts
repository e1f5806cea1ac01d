import { describe, expect, it } from "vitest";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { sortChanges } from "../../src/engine/publish-policy.js";
import type { FileChange } from "../../src/ports.js";
import { aFile } from "../builders.js";

const defaults = {
  layout: defaultLayout,
  issue: 42,
  writes: ["**"],
  protectedPaths: [".github/**", ".claude/**", ".git/**"],
};

function sorted(files: readonly (string | FileChange)[], options: Partial<typeof defaults> = {}) {
  const changes = files.map((file) => (typeof file === "string" ? aFile(file) : file));
  const result = sortChanges(changes, { ...defaults, ...options });
  if (result.status === "refused") return { refused: result.paths };
  return { code: result.code.map(({ path }) => path), outputs: result.outputs.map(({ path }) => path) };
}

describe("what an agent changed", () => {
  it("is code, except in the issue's folder, where it is an output named by its path there", () => {
    expect(
      sorted(["src/a.ts", ".eslintrc", ".claude/crunch/42/spec.md", ".claude/crunch/42/a/b.md"]),
    ).toEqual({
      code: ["src/a.ts", ".eslintrc"],
      outputs: ["spec.md", "a/b.md"],
    });
  });

  it("keeps content, mode and status, deletions too", () => {
    const gone = aFile("old.ts", { content: null, status: "deleted" });
    expect(sortChanges([gone], defaults)).toEqual({ status: "ok", code: [gone], outputs: [] });
  });

  it("may be nothing", () => {
    expect(sorted([])).toEqual({ code: [], outputs: [] });
  });

  it.each([
    [".github/workflows/x.yml"],
    [".github/crunch.yml"],
    [".GitHub/Workflows/x.yml"],
    [".git/hooks/pre-commit"],
    [".claude/settings.json"],
    [".claude/crunch/7/spec.md"],
    [".claude/crunch/421/spec.md"],
    [".claude/crunch/42/checkpoints/latest"],
    [".claude/crunch/42/checkpoints"],
    [".claude/crunch/42/Checkpoints/latest"],
    [".claude/crunch/42/artifacts/0000"],
    [".claude/crunch/42/notes/builder.md"],
    ["a\nb"],
  ])("is refused as a whole for %j", (path) => {
    expect(sorted(["src/fine.ts", path])).toEqual({ refused: [path] });
  });

  it("is not refused for names that only begin like reserved ones", () => {
    expect(sorted([".claude/crunch/42/notes.md", ".github-pages/x"])).toEqual({
      code: [".github-pages/x"],
      outputs: ["notes.md"],
    });
  });

  it("is refused where an output is a link, because it would lead out of the folder", () => {
    const link = aFile(".claude/crunch/42/passwd", { mode: "120000", content: Buffer.from("/etc/passwd") });
    expect(sorted([link])).toEqual({ refused: [link.path] });
  });

  it("is refused outside what the phase may write, but outputs are always allowed", () => {
    const docsOnly = { writes: ["docs/**", "*.md"] };
    expect(sorted(["docs/a/b.md", "README.md", ".claude/crunch/42/spec.md"], docsOnly)).toMatchObject({
      code: ["docs/a/b.md", "README.md"],
    });
    expect(sorted(["docs/a.md", "src/a.ts", "lib/b.ts"], docsOnly)).toEqual({
      refused: ["src/a.ts", "lib/b.ts"],
    });
    expect(sorted(["src/a.ts"], { writes: [] })).toEqual({ refused: ["src/a.ts"] });
  });

  it("is refused in another issue's folder even when the repo protects nothing", () => {
    const open = { protectedPaths: [] };
    expect(sorted([".claude/crunch/7/spec.md"], open)).toEqual({ refused: [".claude/crunch/7/spec.md"] });
    expect(sorted([".claude/settings.json"], open)).toMatchObject({ code: [".claude/settings.json"] });
  });
});
