import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/rest";
import { expect, it } from "vitest";
import { as, github, REPO } from "./world.js";

it("signs an App in with Octokit, and lists its installations and repositories", async () => {
  const gh = await github({ appSlug: "crunch" });
  const options = { appId: gh.app.id, privateKey: gh.app.privateKey };
  const app = new Octokit({ baseUrl: gh.url, authStrategy: createAppAuth, auth: options });
  expect((await app.rest.apps.getAuthenticated()).data).toMatchObject({ id: gh.app.id, slug: "crunch" });
  const installations = await app.rest.apps.listInstallations();
  expect(installations.data.map((one) => one.id)).toEqual([gh.app.installationId]);

  const auth = { ...options, installationId: gh.app.installationId };
  const installed = new Octokit({ baseUrl: gh.url, authStrategy: createAppAuth, auth });
  const repositories = await installed.rest.apps.listReposAccessibleToInstallation();
  expect(repositories.data.repositories.map((one) => one.full_name)).toEqual(["octo/demo"]);
  const issue = await installed.rest.issues.create({ owner: "octo", repo: "demo", title: "by the App" });
  expect(issue.data.user).toMatchObject({ login: "crunch[bot]", type: "Bot" });
  const ref = await installed.rest.git.getRef({ owner: "octo", repo: "demo", ref: "heads/main" });
  expect(ref.data.ref).toBe("refs/heads/main");
});

it("refuses an App's forged token", async () => {
  const gh = await github();
  expect((await as(gh, "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMDAxIn0.AAAA")("GET", "/app")).status).toBe(401);
  expect(
    (await as(gh, "eyJhbGciOiJSUzI1NiJ9.e30.AAAA")("POST", `${REPO}/issues`, { title: "x" })).status,
  ).toBe(401);
});
