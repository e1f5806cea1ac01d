import { describe, expect, it } from "vitest";
import { as, asActions, asOwner, branch, github, REPO } from "./world.js";

describe("reactions", () => {
  it("are made once a person and content, counted, listed and taken back", async () => {
    const gh = await github();
    const owner = asOwner(gh);
    await owner("POST", `${REPO}/issues`, { title: "one" });
    const { body: comment } = await owner("POST", `${REPO}/issues/1/comments`, { body: "hi" });
    for (const on of [`${REPO}/issues/comments/${comment.id}`, `${REPO}/issues/1`]) {
      const first = await owner("POST", `${on}/reactions`, { content: "eyes" });
      const again = await owner("POST", `${on}/reactions`, { content: "eyes" });
      const other = await asActions(gh)("POST", `${on}/reactions`, { content: "eyes" });
      expect([first.status, again.status, other.status]).toEqual([201, 200, 201]);
      expect(again.body.id).toBe(first.body.id);
      expect((await owner("GET", on)).body.reactions).toMatchObject({ total_count: 2, eyes: 2 });
      expect((await owner("DELETE", `${on}/reactions/${first.body.id}`)).status).toBe(204);
      const left = (await owner("GET", `${on}/reactions`)).body;
      expect(left.map((one: { user: { login: string } }) => one.user.login)).toEqual(["github-actions[bot]"]);
    }
    expect((await owner("POST", `${REPO}/issues/1/reactions`, { content: "shrug" })).status).toBe(422);
    expect((await owner("POST", `${REPO}/issues/99/reactions`, { content: "eyes" })).status).toBe(404);
  });
});

describe("issues and comments", () => {
  it("make an unknown label on the fly", async () => {
    const gh = await github();
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one" });
    await asOwner(gh)("POST", `${REPO}/issues/1/labels`, { labels: ["state:enrich"] });
    expect((await asOwner(gh)("GET", `${REPO}/labels/state%3Aenrich`)).body.name).toBe("state:enrich");
    expect((await asOwner(gh)("DELETE", `${REPO}/issues/1/labels/state%3Aenrich`)).body).toEqual([]);
    expect((await asOwner(gh)("POST", `${REPO}/labels`, { name: "state:enrich" })).body.errors[0].code).toBe(
      "already_exists",
    );
  });

  it("refuse bodies and label names over GitHub's limits", async () => {
    const gh = await github();
    const owner = asOwner(gh);
    await owner("POST", `${REPO}/issues`, { title: "one" });
    const comments = `${REPO}/issues/1/comments`;
    expect((await owner("POST", comments, { body: "x".repeat(65_536) })).status).toBe(201);
    expect((await owner("POST", comments, { body: "x".repeat(65_537) })).status).toBe(422);
    expect((await owner("POST", `${REPO}/issues/1/labels`, { labels: ["x".repeat(51)] })).status).toBe(422);
  });

  it("page comments with a Link header on the front's address", async () => {
    const gh = await github();
    const owner = asOwner(gh);
    await owner("POST", `${REPO}/issues`, { title: "one" });
    for (let i = 0; i < 5; i += 1) await owner("POST", `${REPO}/issues/1/comments`, { body: `c${i}` });
    const page = await owner("GET", `${REPO}/issues/1/comments?per_page=2&page=2`);
    expect(page.body.map((one: { body: string }) => one.body)).toEqual(["c2", "c3"]);
    expect(page.headers.get("link")).toContain(
      `<${gh.url}${REPO}/issues/1/comments?per_page=2&page=3>; rel="next"`,
    );
  });

  it("show a pull request as an issue too", async () => {
    const gh = await github();
    const owner = asOwner(gh);
    await branch(owner, "feature/x", { a: "1" });
    const { body: pull } = await owner("POST", `${REPO}/pulls`, {
      title: "p",
      head: "feature/x",
      base: "main",
    });
    const issue = await owner("GET", `${REPO}/issues/${pull.number}`);
    expect(issue.body).toMatchObject({ title: "p", pull_request: { html_url: pull.html_url } });
    const changed = await owner("PATCH", `${REPO}/issues/${pull.number}`, { title: "q", labels: ["a"] });
    expect([changed.body.title, changed.body.labels[0].name]).toEqual(["q", "a"]);
    expect((await as(gh, null)("GET", `${REPO}/issues/99`)).status).toBe(404);
  });
});

describe("conditional requests", () => {
  it("answer 304 until the thing changes", async () => {
    const gh = await github();
    const owner = asOwner(gh);
    await owner("POST", `${REPO}/issues`, { title: "one" });
    const etag = (await owner("GET", `${REPO}/issues/1`)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"/);
    expect((await owner("GET", `${REPO}/issues/1`, undefined, { "if-none-match": etag })).status).toBe(304);
    await owner("PATCH", `${REPO}/issues/1`, { title: "two" });
    expect((await owner("GET", `${REPO}/issues/1`, undefined, { "if-none-match": etag })).status).toBe(200);
  });
});
