import { expect, it } from "vitest";
import { as, asActions, asOwner, branch, github, REPO } from "./world.js";

it("an issue is readable in a browser, escaped, with its pull request's checks", async () => {
  const gh = await github();
  const api = asOwner(gh);
  const body = "<script>alert(1)</script> <!-- hidden --> shown";
  await api("POST", `${REPO}/issues`, { title: "<b>bold</b>", body, labels: ["state:<x>"] });
  await api("POST", `${REPO}/issues/1/comments`, { body: "a <i>comment</i>" });
  const head_sha = await branch(api, "feature/issue-1-x", { "a/b.txt": "<file>" });
  await api("POST", `${REPO}/pulls`, { title: "p", head: "feature/issue-1-x", base: "main" });
  await asActions(gh)("POST", `${REPO}/check-runs`, { name: "spec gate", head_sha, conclusion: "failure" });
  const browser = as(gh, null);
  const html = (await browser("GET", "/octo/demo/issues/1")).body;
  expect(html).not.toMatch(/<script|<b>bold|<i>|hidden|state:<x>/);
  for (const shown of ["&#60;b&#62;bold", "shown", "comment", "spec gate", "failure", "/octo/demo/pull/2"])
    expect(html).toContain(shown);
  expect((await browser("GET", "/octo/demo/pull/2")).body).toContain("spec gate");
  expect((await browser("GET", "/octo/demo/tree/feature/issue-1-x")).body).toContain("a/b.txt");
  expect((await browser("GET", "/octo/demo/blob/feature/issue-1-x/a/b.txt")).body).toContain(
    "&#60;file&#62;",
  );
  expect((await browser("GET", "/octo/demo")).body).toContain("/octo/demo/issues/1");
  expect((await browser("GET", "/octo/demo/issues/99")).status).toBe(404);
});
