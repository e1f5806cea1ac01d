import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../../src/adapters/github/client.js";
import { createIssueTracker } from "../../../src/adapters/github/issue-tracker.js";
import {
  type EmbeddedGitHub,
  type FaultEffect,
  startEmbeddedGitHub,
} from "../../../src/embedded-github/index.js";
import type { Permission } from "../../../src/ports.js";
import { as, asOwner, REPO } from "../../embedded-github/world.js";

const people = {
  ada: "admin",
  mia: "maintain",
  wim: "write",
  tess: "triage",
  rob: "read",
  sam: "none",
} as const;
const marker = "<!-- crunch:status -->";
const me = "github-actions[bot]";

let gh: EmbeddedGitHub;
beforeAll(async () => {
  gh = await startEmbeddedGitHub({
    ...{ owner: "octo", repo: "demo", files: { "README.md": "# Demo\n" }, people },
  });
});
afterAll(() => gh.close());
afterEach(() => gh.faults.clear());

function aTracker(trusted: readonly string[] = []) {
  const octokit = createClient({ baseUrl: gh.url, token: gh.actionsToken, sleep: async () => {} });
  return createIssueTracker(
    { octokit, owner: "octo", repo: "demo", defaultBranch: "main" },
    { ownLogin: me, trusted },
  );
}

const api = (...args: Parameters<ReturnType<typeof asOwner>>) => asOwner(gh)(...args);

async function anIssue(fields: Record<string, unknown> = {}): Promise<number> {
  return (await api("POST", `${REPO}/issues`, { title: "An issue", ...fields })).body.number;
}

interface Comment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly login: string };
}

async function commentsOf(issue: number): Promise<readonly Comment[]> {
  return (await api("GET", `${REPO}/issues/${issue}/comments?per_page=100`)).body;
}

const labelsOf = async (issue: number): Promise<string[]> =>
  (await api("GET", `${REPO}/issues/${issue}`)).body.labels
    .map((label: { name: string }) => label.name)
    .sort();

const faults: [string, FaultEffect][] = [
  ["fails with 500", { kind: "status", status: 500 }],
  ["is cut off", { kind: "reset" }],
  ["is applied but the answer is lost", { kind: "lost" }],
  ["is applied but answered with 502", { kind: "lost-status", status: 502 }],
];

describe("issues", () => {
  it("are read with what Crunch uses", async () => {
    const number = await anIssue({ title: "Title", body: "Body", labels: ["a"], assignees: ["wim"] });
    const found = await aTracker().issue(number);
    expect(found).toMatchObject({ number, title: "Title", body: "Body", labels: ["a"], isOpen: true });
    expect(found.assignees).toEqual(["wim"]);
    expect(found.url).toContain(`/issues/${number}`);
  });

  it("may lack a body, and be closed", async () => {
    const number = await anIssue();
    await api("PATCH", `${REPO}/issues/${number}`, { state: "closed" });
    expect(await aTracker().issue(number)).toMatchObject({ body: "", isOpen: false });
  });

  it("that are open and labelled are listed over several pages, without closed ones and pull requests", async () => {
    const labels = ["state:enrich"];
    const numbers: number[] = [];
    for (let nth = 0; nth < 101; nth++) numbers.push(await anIssue({ labels }));
    const both = await anIssue({ labels: ["state:enrich", "state:docs"] });
    const [other, plain] = [await anIssue({ labels: ["state:docs"] }), await anIssue({ labels: ["bug"] })];
    const closed = await anIssue({ labels });
    await api("PATCH", `${REPO}/issues/${closed}`, { state: "closed" });
    await api("PUT", `${REPO}/contents/new.md`, {
      ...{ message: "new", content: "bmV3", branch: "main" },
    });
    const base = (await api("GET", `${REPO}/git/ref/heads/main`)).body.object.sha;
    await api("POST", `${REPO}/git/refs`, { ref: "refs/heads/change", sha: base });
    await api("PUT", `${REPO}/contents/change.md`, { message: "m", content: "bmV3", branch: "change" });
    const pull = await api("POST", `${REPO}/pulls`, {
      head: "change",
      base: "main",
      title: "A pull request",
    });
    expect(pull.status).toBe(201);
    await api("POST", `${REPO}/issues/${pull.body.number}/labels`, { labels });
    gh.requests.reset();
    const open = (await aTracker().openIssues(["state:enrich", "state:docs"])).map(({ number }) => number);
    // However many other issues a repo has: they are not read.
    expect(gh.requests.count()).toBe(3);
    expect(open).toEqual([...numbers, both, other]);
    for (const each of [closed, plain, pull.body.number]) expect(open).not.toContain(each);
  });
});

describe("the sticky comment", () => {
  it("is made once and edited from then on, with its id known or not", async () => {
    const issue = await anIssue();
    const id = await aTracker().upsertComment(issue, marker, "one", null);
    expect(await aTracker().upsertComment(issue, marker, "two", id)).toBe(id);
    expect(await aTracker().upsertComment(issue, marker, "three", null)).toBe(id);
    const comments = await commentsOf(issue);
    expect(comments.map(({ body }) => body)).toEqual([`${marker}\nthree`]);
    expect(comments[0]?.user.login).toBe(me);
  });

  it("is edited with one request when its id is known", async () => {
    const issue = await anIssue();
    const id = await aTracker().upsertComment(issue, marker, "one", null);
    gh.requests.reset();
    await aTracker().upsertComment(issue, marker, "two", id);
    expect(gh.requests.byRoute()).toEqual({ "PATCH /repos/:owner/:repo/issues/comments/:id": 1 });
  });

  it("is not taken from another user who forged the marker", async () => {
    const issue = await anIssue();
    const forged = `${marker}\nAll gates passed`;
    for (const login of ["rob", "ada", "octo"])
      await as(gh, gh.tokenFor(login))("POST", `${REPO}/issues/${issue}/comments`, { body: forged });
    const id = await aTracker().upsertComment(issue, marker, "true", null);
    expect(await aTracker().upsertComment(issue, marker, "still true", null)).toBe(id);
    const comments = await commentsOf(issue);
    expect(comments.map(({ body }) => body)).toEqual([forged, forged, forged, `${marker}\nstill true`]);
  });

  it("is not an own comment that only quotes the marker", async () => {
    const issue = await anIssue();
    const quoting = await aTracker().upsertComment(issue, "<!-- other -->", `quotes ${marker}`, null);
    expect(await aTracker().upsertComment(issue, marker, "status", null)).not.toBe(quoting);
    expect(await commentsOf(issue)).toHaveLength(2);
  });

  it("is made again once it was deleted, with its id known or not", async () => {
    const issue = await anIssue();
    const first = await aTracker().upsertComment(issue, marker, "one", null);
    await api("DELETE", `${REPO}/issues/comments/${first}`);
    const second = await aTracker().upsertComment(issue, marker, "two", first);
    expect(second).not.toBe(first);
    await api("DELETE", `${REPO}/issues/comments/${second}`);
    await aTracker().upsertComment(issue, marker, "three", null);
    expect((await commentsOf(issue)).map(({ body }) => body)).toEqual([`${marker}\nthree`]);
  });

  it("is found again when the id that is known is gone and another one is there", async () => {
    const issue = await anIssue();
    const id = await aTracker().upsertComment(issue, marker, "one", null);
    expect(await aTracker().upsertComment(issue, marker, "two", 999_999)).toBe(id);
    expect(await commentsOf(issue)).toHaveLength(1);
  });

  it("is found behind a hundred others", async () => {
    const issue = await anIssue();
    for (let nth = 0; nth < 101; nth++) await api("POST", `${REPO}/issues/${issue}/comments`, { body: "hi" });
    const id = await aTracker().upsertComment(issue, marker, "one", null);
    expect(await aTracker().upsertComment(issue, marker, "two", null)).toBe(id);
  });

  it("is cut at 65,536 characters, with a note where", async () => {
    const issue = await anIssue();
    await aTracker().upsertComment(issue, marker, "x".repeat(70_000), null);
    const [comment] = await commentsOf(issue);
    expect(comment?.body).toHaveLength(65_536);
    expect(comment?.body.startsWith(`${marker}\nxxx`)).toBe(true);
    expect(comment?.body).toMatch(/x\n\n… \(cut here: .*\)$/);
  });

  it("is left whole when it just fits", async () => {
    const issue = await anIssue();
    const text = "x".repeat(65_536 - marker.length - 1);
    await aTracker().upsertComment(issue, marker, text, null);
    expect((await commentsOf(issue))[0]?.body).toBe(`${marker}\n${text}`);
  });

  it.each(["", "x"])("is never cut through a character (shifted by %j)", async (shift) => {
    const issue = await anIssue();
    await aTracker().upsertComment(issue, marker, shift + "🦀".repeat(40_000), null);
    const body = (await commentsOf(issue))[0]?.body ?? "";
    expect(body).toMatch(/🦀\n\n… \(cut here/u);
    expect(body).not.toMatch(/\p{Surrogate}/u);
  });

  it.each(faults)("is there once when the POST %s", async (_, effect) => {
    const issue = await anIssue();
    gh.faults.add({ match: { method: "POST", path: /\/comments$/ }, effect });
    const id = await aTracker().upsertComment(issue, marker, "one", null);
    expect((await commentsOf(issue)).map((comment) => comment.id)).toEqual([id]);
  });

  it.each(faults)("is edited when the PATCH %s", async (_, effect) => {
    const issue = await anIssue();
    const id = await aTracker().upsertComment(issue, marker, "one", null);
    gh.faults.add({ match: { method: "PATCH", path: /\/comments\// }, effect });
    expect(await aTracker().upsertComment(issue, marker, "two", id)).toBe(id);
    expect((await commentsOf(issue)).map(({ body }) => body)).toEqual([`${marker}\ntwo`]);
  });

  it("on an issue that does not exist is an error", async () => {
    await expect(aTracker().upsertComment(999_999, marker, "one", null)).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe("a reply", () => {
  it("is posted once for its marker", async () => {
    const issue = await anIssue();
    expect(await aTracker().replyOnce(issue, "<!-- reply 1 -->", "Done")).toBe("posted");
    expect(await aTracker().replyOnce(issue, "<!-- reply 1 -->", "Done again")).toBe("already there");
    expect(await aTracker().replyOnce(issue, "<!-- reply 2 -->", "Done")).toBe("posted");
    const bodies = (await commentsOf(issue)).map(({ body }) => body);
    expect(bodies).toEqual(["<!-- reply 1 -->\nDone", "<!-- reply 2 -->\nDone"]);
  });

  it("costs nothing more, however often it is asked for", async () => {
    const [issue, tracker] = [await anIssue(), aTracker()];
    await tracker.replyOnce(issue, "<!-- reply -->", "No");
    gh.requests.reset();
    for (let nth = 0; nth < 5; nth++)
      expect(await tracker.replyOnce(issue, "<!-- reply -->", "No")).toBe("already there");
    expect(gh.requests.count()).toBe(0);
  });

  it("is not kept back by another user who forged its marker", async () => {
    const issue = await anIssue();
    const rob = as(gh, gh.tokenFor("rob"));
    await rob("POST", `${REPO}/issues/${issue}/comments`, { body: "<!-- reply -->\nno" });
    expect(await aTracker().replyOnce(issue, "<!-- reply -->", "Done")).toBe("posted");
  });

  it.each(faults)("is there once when the POST %s", async (_, effect) => {
    const issue = await anIssue();
    gh.faults.add({ match: { method: "POST", path: /\/comments$/ }, effect });
    expect(await aTracker().replyOnce(issue, "<!-- reply -->", "Done")).toBe("posted");
    expect(await commentsOf(issue)).toHaveLength(1);
  });

  it("is cut like any comment", async () => {
    const issue = await anIssue();
    await aTracker().replyOnce(issue, "<!-- reply -->", "x".repeat(70_000));
    expect((await commentsOf(issue))[0]?.body).toHaveLength(65_536);
  });
});

describe("permissions", () => {
  it.each<[string, Permission]>([
    ["octo", "admin"],
    ["ada", "admin"],
    ["mia", "write"],
    ["wim", "write"],
    ["tess", "triage"],
    ["rob", "read"],
    ["sam", "none"],
    ["nobody-of-that-name", "none"],
  ])("of %s: %s", async (login, permission) => {
    expect(await aTracker().permissionOf(login)).toBe(permission);
  });

  it("of a bot that is trusted: write, which GitHub does not tell", async () => {
    expect(await aTracker().permissionOf("helper[bot]")).toBe("none");
    expect(await aTracker(["helper[bot]"]).permissionOf("helper[bot]")).toBe("write");
    expect(await aTracker(["helper[bot]"]).permissionOf("rob")).toBe("read");
  });
});

describe("labels", () => {
  const odd = ["state:enrich", "area/api & more", "50% done?", "#1 bug", "größe: 🦀"];

  it.each(odd)("%j is added and removed", async (label) => {
    const issue = await anIssue({ labels: ["stays"] });
    await aTracker().addLabel(issue, label);
    expect(await labelsOf(issue)).toEqual([label, "stays"].sort());
    await aTracker().removeLabel(issue, label);
    expect(await labelsOf(issue)).toEqual(["stays"]);
  });

  it("that is there already is added without harm", async () => {
    const issue = await anIssue({ labels: ["a"] });
    await aTracker().addLabel(issue, "a");
    expect(await labelsOf(issue)).toEqual(["a"]);
  });

  it("that is not there is removed without harm", async () => {
    const issue = await anIssue({ labels: ["a"] });
    for (const label of odd) await aTracker().removeLabel(issue, label);
    expect(await labelsOf(issue)).toEqual(["a"]);
  });

  it.each(faults)("are added and removed when the request %s", async (_, effect) => {
    const issue = await anIssue({ labels: ["old"] });
    gh.faults.add({ match: { method: "POST", path: /\/labels$/ }, effect });
    gh.faults.add({ match: { method: "DELETE", path: /\/labels\// }, effect });
    await aTracker().addLabel(issue, "new");
    await aTracker().removeLabel(issue, "old");
    expect(await labelsOf(issue)).toEqual(["new"]);
  });
});

describe("a reaction", () => {
  it("is left on the comment", async () => {
    const issue = await anIssue();
    const comment = (await api("POST", `${REPO}/issues/${issue}/comments`, { body: "/crunch" })).body.id;
    await aTracker().react(comment, "eyes");
    await aTracker().react(comment, "eyes");
    const { body } = await api("GET", `${REPO}/issues/comments/${comment}/reactions`);
    expect(body.map((one: { content: string }) => one.content)).toEqual(["eyes"]);
  });

  it("is a courtesy: a comment that is gone and an outage are no errors", async () => {
    await aTracker().react(999_999, "+1");
    gh.faults.add({
      match: { method: "POST", path: /\/reactions$/ },
      effect: { kind: "status", status: 500 },
    });
    await aTracker().react(1, "+1");
  });
});
