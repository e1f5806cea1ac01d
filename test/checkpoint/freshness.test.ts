import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assessFreshness, type World } from "../../src/checkpoint/freshness.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { textDiff } from "../../src/checkpoint/text-diff.js";
import { aCheckpoint } from "../builders.js";

const ours = "a".repeat(40);
const theirs = "b".repeat(40);

/** A run that has a branch at `ours`, and the world as that run left it. */
function given({ snapshot = {}, world = {}, branchHead = ours as string | null } = {}) {
  const base = aCheckpoint();
  const checkpoint: Checkpoint = {
    ...base,
    issue_snapshot: { ...base.issue_snapshot, branch: "feature/issue-42", head_sha: ours, ...snapshot },
    projections: { ...base.projections, branch_head: branchHead },
  };
  const { title, body, labels, head_sha } = checkpoint.issue_snapshot;
  const now: World = { title, body, labels, branchSha: head_sha, filesChanged: [], ...world };
  return assessFreshness(checkpoint, now);
}

const aFile = { path: "src/theme.ts", status: "modified", patch: "@@ -1 +1 @@\n-dark\n+light" } as const;
const kinds = ({ findings }: ReturnType<typeof given>) => findings.map(({ kind }) => kind);

describe("a world that is as it was", () => {
  it("is resumed", () => {
    expect(given()).toEqual({ canResume: true, action: "resume", findings: [] });
  });

  it("has the same text, whatever its line ends and the white space at the end of lines", () => {
    const snapshot = { body: "First\n\n- [ ] task" };
    expect(given({ snapshot, world: { body: "First  \r\n\r\n- [ ] task\t\r\n\r\n" } }).findings).toEqual([]);
  });

  it("has the same labels in any order, and state labels are not looked at", () => {
    const snapshot = { labels: ["bug", "ui", "state:enrich"] };
    expect(given({ snapshot, world: { labels: ["ui", "state:docs", "bug", "bug"] } }).findings).toEqual([]);
  });

  it("has not lost a branch that was never made", () => {
    const never = { snapshot: { head_sha: null }, branchHead: null, world: { branchSha: null } };
    expect(given(never).action).toBe("resume");
  });

  it("has a branch behind its commit when the session died before it moved the branch", () => {
    const world = { branchSha: theirs, filesChanged: [aFile] };
    expect(given({ branchHead: theirs, world }).findings).toEqual([]);
  });

  it("has a branch with another commit and the same files", () => {
    expect(given({ world: { branchSha: theirs, filesChanged: [] } }).action).toBe("resume");
  });
});

describe("a world that has changed", () => {
  it("can't be resumed when the branch is gone", () => {
    const found = given({ world: { branchSha: null } });
    expect(found).toMatchObject({ canResume: false, action: "start_fresh" });
    expect(found.findings[0]?.message).toBe("The branch feature/issue-42 was deleted: it was at aaaaaaa.");
  });

  it("asks a person about a changed text, and shows the change", () => {
    const found = given({ snapshot: { body: "one\ntwo" }, world: { body: "one\nthree" } });
    expect(found).toMatchObject({ canResume: true, action: "prompt_user" });
    expect(found.findings[0]).toMatchObject({
      message: "The issue's text was changed (+1 −1 lines).",
      diff: "--- text\n+++ text\n@@ -1,2 +1,2 @@\n one\n-two\n+three",
    });
  });

  it("asks about a changed title in its own words", () => {
    const [finding] = given({ snapshot: { title: "Old" }, world: { title: "New" } }).findings;
    expect(finding).toMatchObject({ kind: "body_changed", message: "The issue's title was changed." });
    expect(finding?.diff).toContain("-Old\n+New");
  });

  it("names both when title and text changed", () => {
    const [finding] = given({ world: { title: "New", body: "New" } }).findings;
    expect(finding?.message).toMatch(/^The issue's title and text .* were changed\.$/);
  });

  it("is reconciled when others changed files, which are listed with their patches", () => {
    const found = given({ world: { branchSha: theirs, filesChanged: [aFile] } });
    expect(found).toMatchObject({ canResume: true, action: "reconcile" });
    expect(found.findings[0]?.diff).toBe(`modified src/theme.ts\n\n--- src/theme.ts\n${aFile.patch}`);
  });

  it("goes on with a warning when only labels changed", () => {
    const found = given({ snapshot: { labels: ["bug"] }, world: { labels: ["ui"] } });
    expect(found).toMatchObject({ canResume: true, action: "proceed_with_warning" });
    expect(found.findings[0]?.diff).toBe("- bug\n+ ui");
  });

  it("gives every finding, the worst first, and the worst decides", () => {
    const world = { body: "New", labels: ["ui"], branchSha: theirs, filesChanged: [aFile] };
    expect(kinds(given({ world }))).toEqual(["body_changed", "files_changed", "labels_changed"]);
    const deleted = given({ world: { ...world, branchSha: null } });
    expect(kinds(deleted)).toEqual(["branch_deleted", "body_changed", "labels_changed"]);
    expect(deleted.action).toBe("start_fresh");
  });
});

describe("a hostile world", () => {
  const timed = (work: () => void) => {
    const began = performance.now();
    work();
    return performance.now() - began;
  };

  it("of one line of 100 KB shows where the line changed, cut", () => {
    const line = "word ".repeat(20_000);
    const diff = textDiff(line, `${line.slice(0, 60_000)}CHANGED${line.slice(60_000)}`);
    expect(diff).toMatchObject({ added: 1, removed: 1, isCut: true });
    expect(diff?.unified).toContain("CHANGED");
    expect(diff?.unified.length).toBeLessThan(5_000);
  });

  it.each([
    ["thousands of changed lines", (n: number) => `${"x".repeat(20)}${n}`],
    ["lines of blanks", (n: number) => `${" ".repeat(n % 50)}${n}`],
  ])("of %s is compared fast, and cut with a note", (_, line) => {
    const text = (from: number) => Array.from({ length: 5_000 }, (__, n) => line(n + from)).join("\n");
    const [before, after] = [text(0), text(1_000_000)];
    expect(timed(() => textDiff(before, after))).toBeLessThan(2_000);
    const diff = textDiff(before, after);
    expect(diff).toMatchObject({ added: 5_000, removed: 5_000, isCut: true });
    expect(diff?.unified).toMatch(/… [\d]+ more lines not shown$/);
  });

  it("of a megabyte of blanks is compared fast", () => {
    expect(timed(() => textDiff(`${" ".repeat(1_000_000)}x`, "y"))).toBeLessThan(2_000);
  });

  it("of thousands of files is listed with a limit", () => {
    const files = Array.from({ length: 3_000 }, (_, n) => ({ ...aFile, path: `src/${n}.ts` }));
    const [finding] = given({ world: { branchSha: theirs, filesChanged: files } }).findings;
    expect(finding?.diff?.length).toBeLessThan(21_000);
    expect(finding?.diff).toContain("… and 2950 more files");
  });
});

describe("a diff of any two texts", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "", "c d", "é😀"), { maxLength: 40 })
    .map((all) => all.join("\n"));

  it("says nothing exactly when they differ in no word", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const words = (one: string) =>
          one
            .split("\n")
            .map((line) => line.trimEnd())
            .join("\n")
            .trimEnd();
        expect(textDiff(a, b) === null).toBe(words(a) === words(b));
      }),
    );
  });

  it("counts the same lines both ways", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [there, back] = [textDiff(a, b), textDiff(b, a)];
        expect([there?.added, there?.removed]).toEqual([back?.removed, back?.added]);
      }),
    );
  });

  it("stays within its limits, and never ends in half a character", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: 0, max: 3 }), (length, shift) => {
        const long = "x".repeat(shift) + "😀".repeat(length);
        const unified = textDiff(`${long}a`, `${long}b`)?.unified ?? "";
        expect(unified.length).toBeLessThan(20_100);
        expect(/\p{Cs}/u.test(unified)).toBe(false);
      }),
    );
  });
});
