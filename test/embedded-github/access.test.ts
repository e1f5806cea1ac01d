import { describe, expect, it } from "vitest";
import { as, asActions, asOwner, commit, github, REPO } from "./world.js";

describe("who may do what", () => {
  it("answers 401 to an unknown token, and to a write without one", async () => {
    const gh = await github();
    const stranger = await as(gh, "ghp_nobody")("GET", REPO);
    expect([stranger.status, stranger.body.message]).toEqual([401, "Bad credentials"]);
    expect((await as(gh, null)("POST", `${REPO}/issues`, { title: "x" })).status).toBe(401);
    expect((await as(gh, null)("GET", REPO)).status).toBe(200);
  });

  it("lets a reader comment, but neither label nor write git data, refs or checks", async () => {
    const gh = await github();
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one" });
    const rob = as(gh, gh.tokenFor("rob"));
    expect((await rob("POST", `${REPO}/issues/1/comments`, { body: "hello" })).status).toBe(201);
    expect((await rob("POST", `${REPO}/issues/1/labels`, { labels: ["a"] })).status).toBe(403);
    expect((await rob("PATCH", `${REPO}/issues/1`, { title: "mine now" })).status).toBe(403);
    expect((await rob("POST", `${REPO}/git/blobs`, { content: "x" })).status).toBe(403);
    expect((await rob("POST", `${REPO}/git/refs`, { ref: "refs/heads/x", sha: "0" })).status).toBe(403);
    expect((await rob("POST", `${REPO}/check-runs`, { name: "x", head_sha: "0" })).status).toBe(403);
    expect((await rob("POST", `${REPO}/dispatches`, { event_type: "x" })).status).toBe(403);
  });

  it("drops the labels a reader puts on a new issue, and lets them close their own", async () => {
    const gh = await github();
    const rob = as(gh, gh.tokenFor("rob"));
    const made = await rob("POST", `${REPO}/issues`, { title: "mine", labels: ["state:enrich"] });
    expect([made.status, made.body.labels]).toEqual([201, []]);
    expect((await rob("PATCH", `${REPO}/issues/1`, { state: "closed" })).body.state).toBe("closed");
  });

  it("lets triage label but not write git data; write may both", async () => {
    const gh = await github();
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one" });
    const tess = as(gh, gh.tokenFor("tess"));
    expect((await tess("POST", `${REPO}/issues/1/labels`, { labels: ["a"] })).status).toBe(200);
    expect((await tess("POST", `${REPO}/git/blobs`, { content: "x" })).status).toBe(403);
    const wim = as(gh, gh.tokenFor("wim"));
    expect((await wim("POST", `${REPO}/git/blobs`, { content: "x" })).status).toBe(201);
  });

  it("lets nobody edit another's comment without write access", async () => {
    const gh = await github();
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one" });
    const { body } = await asOwner(gh)("POST", `${REPO}/issues/1/comments`, { body: "owner's" });
    const path = `${REPO}/issues/comments/${body.id}`;
    expect((await as(gh, gh.tokenFor("rob"))("PATCH", path, { body: "forged" })).status).toBe(403);
    expect((await as(gh, gh.tokenFor("rob"))("DELETE", path)).status).toBe(403);
    expect((await as(gh, gh.tokenFor("wim"))("PATCH", path, { body: "edited" })).status).toBe(200);
  });

  it("tells each person's permission and role", async () => {
    const gh = await github();
    const seen: Record<string, unknown> = {};
    for (const login of ["octo", "mia", "wim", "tess", "rob", "sam"]) {
      const { body } = await asActions(gh)("GET", `${REPO}/collaborators/${login}/permission`);
      seen[login] = [body.permission, body.role_name, body.user.login];
    }
    expect(seen).toEqual({
      octo: ["admin", "admin", "octo"],
      mia: ["write", "maintain", "mia"],
      wim: ["write", "write", "wim"],
      tess: ["read", "triage", "tess"],
      rob: ["read", "read", "rob"],
      sam: ["none", "none", "sam"],
    });
    expect((await asActions(gh)("GET", `${REPO}/collaborators/ghosty/permission`)).status).toBe(404);
  });

  it("lets only Apps write check runs, as GitHub does", async () => {
    const gh = await github();
    const head_sha = await commit(asOwner(gh), { a: "1" });
    const refused = await asOwner(gh)("POST", `${REPO}/check-runs`, { name: "x", head_sha });
    expect([refused.status, refused.body.message]).toEqual([403, "You must authenticate via a GitHub App."]);
    expect((await asActions(gh)("POST", `${REPO}/check-runs`, { name: "x", head_sha })).status).toBe(201);
  });

  it("gives the runner's token no user and no admin rights", async () => {
    const gh = await github();
    expect((await asActions(gh)("GET", "/user")).status).toBe(403);
    expect((await asActions(gh)("PATCH", REPO, { description: "x" })).status).toBe(403);
    expect((await as(gh, gh.tokenFor("rob"))("GET", "/user")).body.login).toBe("rob");
  });
});

it("knows no other repository", async () => {
  const gh = await github();
  expect((await asOwner(gh)("POST", "/repos/octo/other/dispatches", { event_type: "x" })).status).toBe(404);
  expect((await asOwner(gh)("GET", "/repos/octo/other/issues/1")).status).toBe(404);
  expect(gh.dispatches).toEqual([]);
});
