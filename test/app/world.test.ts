import { describe, expect, it } from "vitest";
import { lookAround } from "../../src/app/world.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import type { CodeChange, CodeHost } from "../../src/ports.js";
import { aCheckpoint, anIssue } from "../builders.js";

const older = "a".repeat(40);
const head = "b".repeat(40);
const theirs = "c".repeat(40);

/** A host as GitHub is: what is on the second commit since the two parted. */
function aHost(tip: string, between: Readonly<Record<string, readonly CodeChange[]>>) {
  return {
    head: async () => ({ sha: tip, tree: tip }),
    changesBetween: async (from: string, to: string) => between[`${from[0]}...${to[0]}`] ?? [],
  } as unknown as CodeHost;
}

function shown(branch_head: string | null): Checkpoint {
  const checkpoint = aCheckpoint();
  return {
    ...checkpoint,
    issue_snapshot: { ...checkpoint.issue_snapshot, branch: "feature/x", head_sha: head },
    projections: { ...checkpoint.projections, branch_head },
  };
}

const change = (path: string, status: CodeChange["status"]) => ({ path, status, patch: "@@" });
const look = async (tip: string, branchHead: string | null, between: Parameters<typeof aHost>[1]) => {
  const { freshness } = await lookAround(aHost(tip, between), shown(branchHead), anIssue());
  return freshness.findings.map(({ kind, diff }) => `${kind}: ${diff}`);
};

describe("a code branch that is not where Crunch left it", () => {
  const ours = { "a...b": [change("new.ts", "added"), change("old.ts", "deleted")] };

  it("and was put back by somebody is asked about", async () => {
    const [found = ""] = await look(older, head, ours);
    expect(found).toMatch(/^files_changed: deleted +new\.ts\nadded +old\.ts$/);
  });

  it("and was put on other commits: theirs and what of ours is gone", async () => {
    const between = { "b...c": [change("theirs.ts", "added")], "c...b": [change("new.ts", "added")] };
    const [found = ""] = await look(theirs, head, between);
    expect(found).toMatch(/added +theirs\.ts\ndeleted +new\.ts/);
  });

  it("because Crunch died before it moved it, is nobody's doing", async () => {
    expect(await look(older, older, ours)).toEqual([]);
    expect(await look(older, null, ours)).toEqual([]);
  });
});
