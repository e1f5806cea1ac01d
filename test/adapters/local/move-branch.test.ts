import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createLocalCodeHost } from "../../../src/adapters/local/code-host.js";
import { openLocalGit } from "../../../src/adapters/local/git.js";
import type { CodeHost } from "../../../src/ports.js";
import { added, belongings, useCheckout } from "./checkout.js";

const checkout = useCheckout();
const branch = "feature/issue-1-fix";
let code: CodeHost;
let base = "";

beforeEach(async () => {
  await checkout.write({ "README.md": "hello\n" });
  base = checkout.commitAll();
  code = await openHost();
});

async function openHost() {
  return createLocalCodeHost(await openLocalGit(checkout.root), { defaultBranch: "main" });
}

async function commitOn(parentSha: string, name: string): Promise<string> {
  const parent = await code.commit(parentSha);
  return (await code.prepareCommit({ parent, changes: [added(name, name)], message: name })).sha;
}

const tip = () => checkout.git("rev-parse", branch);

describe("a branch", () => {
  it("is made, and moves forward, with a line in its reflog", async () => {
    const first = await commitOn(base, "one");
    const second = await commitOn(first, "two");
    expect(await code.moveBranch(branch, first, null)).toBe("moved");
    expect(await code.moveBranch(branch, second, first)).toBe("moved");
    expect(tip()).toBe(second);
    expect(checkout.git("reflog", "--format=%gs", branch)).toBe("crunch: publish\ncrunch: publish");
  });

  it("is moved already when it is there, or when people have committed on top", async () => {
    const first = await commitOn(base, "one");
    const theirs = await commitOn(first, "theirs");
    await code.moveBranch(branch, theirs, null);
    expect(await code.moveBranch(branch, first, null)).toBe("moved");
    expect(await code.moveBranch(branch, first, base)).toBe("moved");
    expect(await code.moveBranch(branch, theirs, first)).toBe("moved");
    expect(tip()).toBe(theirs);
  });

  it("that was thought not to exist may still advance", async () => {
    const first = await commitOn(base, "one");
    checkout.git("branch", branch, base);
    expect(await code.moveBranch(branch, first, null)).toBe("moved");
    expect(tip()).toBe(first);
  });

  it("has diverged when people put other commits there, reset it elsewhere or deleted it", async () => {
    const [ours, theirs] = [await commitOn(base, "ours"), await commitOn(base, "theirs")];
    checkout.git("branch", branch, theirs);
    expect(await code.moveBranch(branch, ours, base)).toBe("diverged");
    expect(await code.moveBranch(branch, ours, null)).toBe("diverged");
    expect(tip()).toBe(theirs);
    checkout.git("branch", "--quiet", "-D", branch);
    expect(await code.moveBranch(branch, ours, theirs)).toBe("diverged");
    checkout.git("switch", "--quiet", "--orphan", "unrelated");
    const unrelated = checkout.commitAll();
    checkout.git("switch", "--quiet", "main");
    expect(await code.moveBranch("unrelated", ours, unrelated)).toBe("diverged");
  });

  it("that is checked out is never moved, here or in another work tree", async () => {
    const next = await commitOn(base, "next");
    const before = belongings(checkout.root);
    const refused = { code: "branch_checked_out", hint: expect.stringContaining("git switch --detach") };
    await expect(code.moveBranch("main", next, base)).rejects.toMatchObject(refused);
    const other = join(checkout.temp, "other");
    checkout.git("worktree", "add", "--quiet", "-b", branch, other, base);
    await expect(code.moveBranch(branch, next, base)).rejects.toThrow(`is checked out in ${other}`);
    expect([checkout.git("rev-parse", "main"), tip()]).toEqual([base, base]);
    expect(belongings(checkout.root)).toEqual({ ...before, ".git": expect.any(String) });
    // Nothing has to move: that is fine wherever it is checked out.
    expect(await code.moveBranch(branch, base, null)).toBe("moved");
    checkout.git("-C", other, "switch", "--quiet", "--detach");
    expect(await code.moveBranch(branch, next, base)).toBe("moved");
  });

  it("that is checked out but has no commit yet is not made either", async () => {
    checkout.git("switch", "--quiet", "--orphan", branch);
    await expect(code.moveBranch(branch, base, null)).rejects.toMatchObject({ code: "branch_checked_out" });
  });

  it("can be moved from within a linked work tree", async () => {
    const other = join(checkout.temp, "other");
    checkout.git("worktree", "add", "--quiet", "-b", "theirs", other, base);
    const host = createLocalCodeHost(await openLocalGit(other), { defaultBranch: "theirs" });
    const parent = await host.commit(base);
    const { sha } = await host.prepareCommit({ parent, changes: [added("x", "x")], message: "x" });
    expect(await host.moveBranch(branch, sha, null)).toBe("moved");
    expect(tip()).toBe(sha);
    await expect(host.moveBranch("main", sha, base)).rejects.toThrow(`is checked out in ${checkout.root}`);
  });

  it("that can't be made says why", async () => {
    checkout.git("branch", "feature");
    await expect(code.moveBranch(branch, base, null)).rejects.toMatchObject({
      code: "branch_not_moved",
      message: expect.stringContaining("refs/heads/feature"),
    });
    await expect(code.moveBranch("a..b", base, null)).rejects.toMatchObject({ code: "branch_name_invalid" });
    writeFileSync(join(checkout.root, ".git/refs/heads/stuck.lock"), "");
    await expect(code.moveBranch("stuck", base, null)).rejects.toMatchObject({
      code: "branch_not_moved",
      hint: expect.stringContaining(".lock"),
    });
  });
});

describe("of several who race for a branch", () => {
  it("one wins and the others learn that they have not", async () => {
    const racers = ["a", "b", "c", "d", "e", "f"];
    const commits = await Promise.all(racers.map((name) => commitOn(base, name)));
    const hosts = await Promise.all(racers.map(openHost));
    const results = await Promise.all(
      hosts.map((host, at) => host.moveBranch(branch, commits[at] ?? "", null)),
    );
    expect(results.filter((result) => result === "moved")).toHaveLength(1);
    expect(tip()).toBe(commits[results.indexOf("moved")]);
  });

  it("all have won when they bring the same commit, or one that the other has", async () => {
    const first = await commitOn(base, "one");
    const second = await commitOn(first, "two");
    const hosts = await Promise.all([first, second, first, second].map(openHost));
    const targets = [first, second, first, second];
    const results = await Promise.all(
      hosts.map((host, at) => host.moveBranch(branch, targets[at] ?? "", null)),
    );
    expect(results).toEqual(["moved", "moved", "moved", "moved"]);
    expect(tip()).toBe(second);
  });
});
