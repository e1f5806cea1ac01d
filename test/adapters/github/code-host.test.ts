import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../../src/adapters/github/client.js";
import { createCodeHost } from "../../../src/adapters/github/code-host.js";
import {
  type EmbeddedGitHub,
  type FaultEffect,
  startEmbeddedGitHub,
} from "../../../src/embedded-github/index.js";
import type { FileChange } from "../../../src/ports.js";
import { asOwner, commit, REPO } from "../../embedded-github/world.js";

let gh: EmbeddedGitHub;
let branches = 0;
beforeAll(async () => {
  gh = await startEmbeddedGitHub({
    ...{ owner: "octo", repo: "demo", files: { "README.md": "# Demo\n", "src/old.ts": "old\n" } },
  });
});
afterAll(() => gh.close());
afterEach(() => gh.faults.clear());

function aHost() {
  const octokit = createClient({ baseUrl: gh.url, token: gh.actionsToken, sleep: async () => {} });
  return createCodeHost({ octokit, owner: "octo", repo: "demo", defaultBranch: "main" });
}

const api = (...args: Parameters<ReturnType<typeof asOwner>>) => asOwner(gh)(...args);
const aName = () => `feature/issue-${++branches}-a-slug`;
const text = (path: string, content: string): FileChange => ({
  ...{ path, mode: "100644", status: "added", content: Buffer.from(content) },
});

async function main() {
  const head = await aHost().head("main");
  if (head === null) throw new Error("There is no main");
  return head;
}

/** A commit on top of another, which no branch points to yet. */
async function prepared(parent?: { readonly sha: string; readonly tree: string }) {
  const on = parent ?? (await main());
  return aHost().prepareCommit({ parent: on, changes: [text(`${++branches}.md`, "x")], message: "Work" });
}

async function tipOf(branch: string): Promise<string | null> {
  return (await api("GET", `${REPO}/git/ref/heads/${branch}`)).body.object?.sha ?? null;
}

const faults: [string, FaultEffect][] = [
  ["fails with 500", { kind: "status", status: 500 }],
  ["is cut off", { kind: "reset" }],
  ["is applied but the answer is lost", { kind: "lost" }],
  ["is applied but answered with 502", { kind: "lost-status", status: 502 }],
];

describe("commits", () => {
  it("are found by branch and by SHA with their tree", async () => {
    const head = await main();
    expect(head.sha).toBe(await tipOf("main"));
    expect(await aHost().commit(head.sha)).toEqual(head);
    expect(await aHost().head("no/such-branch")).toBeNull();
  });

  it("are not asked for again once they are known", async () => {
    const host = aHost();
    const head = await host.head("main");
    gh.requests.reset();
    expect(await host.commit(head?.sha ?? "")).toEqual(head);
    expect(gh.requests.count()).toBe(0);
  });

  it("hold added, changed, deleted, executable and binary files and links", async () => {
    const parent = await main();
    const binary = Buffer.from([0, 1, 2, 255]);
    const made = await aHost().prepareCommit({
      parent,
      message: "Everything",
      changes: [
        text("README.md", "# Changed — ü\n"),
        { path: "src/old.ts", mode: "100644", status: "deleted", content: null },
        { path: "bin/run", mode: "100755", status: "added", content: Buffer.from("#!/bin/sh\n") },
        { path: "logo.png", mode: "100644", status: "added", content: binary },
        { path: "link", mode: "120000", status: "added", content: Buffer.from("README.md") },
      ],
    });
    const { body: found } = await api("GET", `${REPO}/git/commits/${made.sha}`);
    expect(found).toMatchObject({ message: "Everything", tree: { sha: made.tree } });
    expect(found.parents.map(({ sha }: { sha: string }) => sha)).toEqual([parent.sha]);
    const { body } = await api("GET", `${REPO}/git/trees/${made.tree}?recursive=1`);
    const entries = body.tree.filter(({ type }: { type: string }) => type === "blob");
    expect(entries.map(({ mode, path }: { mode: string; path: string }) => `${mode} ${path}`).sort()).toEqual(
      ["100644 README.md", "100644 logo.png", "100755 bin/run", "120000 link"],
    );
    const logo = entries.find(({ path }: { path: string }) => path === "logo.png");
    const blob = await api("GET", `${REPO}/git/blobs/${logo.sha}`);
    expect(Buffer.from(blob.body.content, "base64")).toEqual(binary);
    expect(await tipOf("main")).toBe(parent.sha);
  });

  it.each(faults)("are made when a request %s", async (_, effect) => {
    const parent = await main();
    for (const what of ["blobs", "trees", "commits"])
      gh.faults.add({ match: { method: "POST", path: new RegExp(`/git/${what}$`) }, effect });
    const content = Buffer.from([0, ++branches]);
    const changes: FileChange[] = [{ path: "a.bin", mode: "100644", status: "added", content }];
    const made = await aHost().prepareCommit({ parent, changes, message: "Work" });
    expect((await api("GET", `${REPO}/git/commits/${made.sha}`)).body.tree.sha).toBe(made.tree);
  });
});

describe("moving a branch", () => {
  it("creates it", async () => {
    const [name, made] = [aName(), await prepared()];
    expect(await aHost().moveBranch(name, made.sha, null)).toBe("moved");
    expect(await tipOf(name)).toBe(made.sha);
  });

  it("advances it", async () => {
    const [name, one] = [aName(), await prepared()];
    const two = await prepared(one);
    await aHost().moveBranch(name, one.sha, null);
    expect(await aHost().moveBranch(name, two.sha, one.sha)).toBe("moved");
    expect(await tipOf(name)).toBe(two.sha);
  });

  it("is done when it is there already", async () => {
    const [name, one] = [aName(), await prepared()];
    const two = await prepared(one);
    await aHost().moveBranch(name, two.sha, null);
    for (const from of [null, one.sha, two.sha])
      expect(await aHost().moveBranch(name, two.sha, from)).toBe("moved");
    expect(await tipOf(name)).toBe(two.sha);
  });

  it("advances one that exists although it was thought not to", async () => {
    const [name, one] = [aName(), await prepared()];
    const two = await prepared(one);
    await aHost().moveBranch(name, one.sha, null);
    expect(await aHost().moveBranch(name, two.sha, null)).toBe("moved");
    expect(await tipOf(name)).toBe(two.sha);
  });

  it("is done when people have pushed on top, and leaves theirs", async () => {
    const [name, one] = [aName(), await prepared()];
    const two = await prepared(one);
    await aHost().moveBranch(name, two.sha, null);
    const theirs = await commit(asOwner(gh), { "theirs.md": "x" }, name, "By a person");
    await api("PATCH", `${REPO}/git/refs/heads/${name}`, { sha: theirs });
    for (const from of [null, one.sha, two.sha])
      expect(await aHost().moveBranch(name, two.sha, from)).toBe("moved");
    expect(await tipOf(name)).toBe(theirs);
  });

  it("never forces: people's commits in between stay, and it has diverged", async () => {
    const [name, one] = [aName(), await prepared()];
    await aHost().moveBranch(name, one.sha, null);
    const theirs = await commit(asOwner(gh), { "theirs.md": "x" }, name, "By a person");
    await api("PATCH", `${REPO}/git/refs/heads/${name}`, { sha: theirs });
    const mine = await prepared(one);
    for (const from of [null, one.sha, theirs])
      expect(await aHost().moveBranch(name, mine.sha, from)).toBe("diverged");
    expect(await tipOf(name)).toBe(theirs);
  });

  it("does not bring back a branch that people deleted", async () => {
    const [name, one] = [aName(), await prepared()];
    await aHost().moveBranch(name, one.sha, null);
    await api("DELETE", `${REPO}/git/refs/heads/${name}`);
    expect(await aHost().moveBranch(name, (await prepared(one)).sha, one.sha)).toBe("diverged");
    expect(await tipOf(name)).toBeNull();
  });

  it.each(faults)("happens when the request %s", async (_, effect) => {
    const [name, one] = [aName(), await prepared()];
    const two = await prepared(one);
    gh.faults.add({ match: { method: "POST", path: /\/git\/refs$/ }, effect });
    expect(await aHost().moveBranch(name, one.sha, null)).toBe("moved");
    gh.faults.add({ match: { method: "PATCH", path: /\/git\/refs\// }, effect });
    expect(await aHost().moveBranch(name, two.sha, one.sha)).toBe("moved");
    expect(await tipOf(name)).toBe(two.sha);
  });

  it("to a commit that does not exist is an error or has diverged, and creates nothing", async () => {
    const name = aName();
    await expect(aHost().moveBranch(name, "0".repeat(39).concat("1"), null)).rejects.toMatchObject({
      status: 422,
    });
    expect(await tipOf(name)).toBeNull();
  });
});

describe("the pull request", () => {
  async function aBranch(): Promise<string> {
    const [name, made] = [aName(), await prepared()];
    await aHost().moveBranch(name, made.sha, null);
    return name;
  }
  const open = (branch: string, base = "main") =>
    aHost().openPullRequest({ branch, base, title: "Work", body: "Closes #1" });
  const pullsFrom = async (branch: string): Promise<number[]> =>
    (await api("GET", `${REPO}/pulls?state=all&head=octo:${branch}`)).body.map(
      ({ number }: { number: number }) => number,
    );

  it("is opened once and found from then on", async () => {
    const branch = await aBranch();
    const number = await open(branch);
    expect(await open(branch)).toBe(number);
    expect(await pullsFrom(branch)).toEqual([number]);
    const { body } = await api("GET", `${REPO}/pulls/${number}`);
    expect(body).toMatchObject({
      title: "Work",
      body: "Closes #1",
      head: { ref: branch },
      base: { ref: "main" },
    });
  });

  it("is the branch's own, not another's", async () => {
    const [one, two] = [await aBranch(), await aBranch()];
    const numbers = [await open(one), await open(two)];
    expect(new Set(numbers).size).toBe(2);
    expect([await open(one), await open(two)]).toEqual(numbers);
  });

  it("is the one into its base, not the one into another", async () => {
    const branch = await aBranch();
    const release = aName();
    await aHost().moveBranch(release, (await main()).sha, null);
    const numbers = [await open(branch), await open(branch, release)];
    expect(new Set(numbers).size).toBe(2);
    expect([await open(branch), await open(branch, release)]).toEqual(numbers);
  });

  it("is opened anew once it was closed", async () => {
    const branch = await aBranch();
    const closed = await open(branch);
    await api("PATCH", `${REPO}/pulls/${closed}`, { state: "closed" });
    const next = await open(branch);
    expect(next).not.toBe(closed);
    expect(await open(branch)).toBe(next);
  });

  it("is none while the branch has nothing that its base lacks", async () => {
    const branch = aName();
    await aHost().moveBranch(branch, (await main()).sha, null);
    expect(await open(branch)).toBeNull();
    expect(await pullsFrom(branch)).toEqual([]);
  });

  it.each(faults)("is there once when the request %s", async (_, effect) => {
    const branch = await aBranch();
    gh.faults.add({ match: { method: "POST", path: /\/pulls$/ }, effect });
    const number = await open(branch);
    expect(number).not.toBeNull();
    expect(await pullsFrom(branch)).toEqual([number]);
  });

  it("that a setting of the repo forbids is told, unless a person has opened it", async () => {
    const branch = await aBranch();
    const message = "GitHub Actions is not permitted to create or approve pull requests.";
    const effect = { kind: "status", status: 403, body: { message } } as const;
    const forbid = () => gh.faults.add({ match: { method: "POST", path: /\/pulls$/ }, effect });
    forbid();
    expect(await open(branch)).toBe("forbidden");
    const byHand = await open(branch);
    forbid();
    expect(await open(branch)).toBe(byHand);
  });
});
