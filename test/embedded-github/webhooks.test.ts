import { describe, expect, it } from "vitest";
import { as, asActions, asOwner, branch, commit, github, REPO, receiver, signatureOf } from "./world.js";

describe("webhooks", () => {
  it("follow a labelled new issue with one labeled event a label, in order", async () => {
    const hook = await receiver(200, 5);
    const gh = await github({ webhook: hook.target });
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one", labels: ["a", "b"] });
    await asOwner(gh)("PUT", `${REPO}/issues/1/labels`, { labels: ["b", "c"] });
    await asOwner(gh)("DELETE", `${REPO}/issues/1/labels`);
    await gh.deliveriesSettled();
    expect(hook.received.map(({ payload }) => [payload.action, payload.label?.name])).toEqual([
      ["opened", undefined],
      ["labeled", "a"],
      ["labeled", "b"],
      ["unlabeled", "a"],
      ["labeled", "c"],
      ["unlabeled", "b"],
      ["unlabeled", "c"],
    ]);
    expect(hook.received[1]?.payload).toMatchObject({
      label: { name: "a", color: expect.any(String) },
      issue: { number: 1 },
      repository: { full_name: "octo/demo" },
      sender: { login: "octo", type: "User" },
      installation: { id: gh.app.installationId },
    });
  });

  it("are signed over the raw body and each has its own GUID", async () => {
    const hook = await receiver();
    const gh = await github({ webhook: hook.target });
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "ünï", labels: ["a"] });
    await gh.deliveriesSettled();
    for (const { headers, body } of hook.received) {
      expect(headers["x-hub-signature-256"]).toBe(signatureOf(body, "s3cret"));
      expect(headers["x-github-delivery"]).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers["content-type"]).toBe("application/json");
    }
    expect(new Set(hook.received.map(({ headers }) => headers["x-github-delivery"])).size).toBe(2);
    expect(gh.deliveries.map(({ event, action, status }) => [event, action, status])).toEqual([
      ["issues", "opened", 200],
      ["issues", "labeled", 200],
    ]);
  });

  it("name the bot behind an App's or a runner's token as sender", async () => {
    const gh = await github();
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one" });
    await asActions(gh)("POST", `${REPO}/issues/1/comments`, { body: "hi" });
    expect(gh.deliveries.at(-1)?.payload).toMatchObject({
      action: "created",
      comment: { body: "hi" },
      issue: { number: 1 },
      sender: { login: "github-actions[bot]", type: "Bot" },
    });
  });

  it("tell edits, closing and comments' changes with what was before", async () => {
    const gh = await github();
    const owner = asOwner(gh);
    await owner("POST", `${REPO}/issues`, { title: "one", body: "b" });
    await owner("PATCH", `${REPO}/issues/1`, { body: "c", state: "closed" });
    const { body } = await owner("POST", `${REPO}/issues/1/comments`, { body: "x" });
    await owner("PATCH", `${REPO}/issues/comments/${body.id}`, { body: "y" });
    await owner("DELETE", `${REPO}/issues/comments/${body.id}`);
    expect(gh.deliveries.map(({ event, action }) => `${event}.${action}`)).toEqual([
      "issues.opened",
      "issues.edited",
      "issues.closed",
      "issue_comment.created",
      "issue_comment.edited",
      "issue_comment.deleted",
    ]);
    expect(gh.deliveries[1]?.payload).toMatchObject({ changes: { body: { from: "b" } } });
  });

  it("do not hold up the API, and are given up without a retry when nobody listens", async () => {
    const slow = await receiver(200, 300);
    const gh = await github({ webhook: slow.target });
    const started = performance.now();
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one" });
    expect(performance.now() - started).toBeLessThan(250);
    await gh.deliveriesSettled();
    gh.setWebhook({ url: "http://127.0.0.1:9/", secret: "x" });
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "two" });
    await gh.deliveriesSettled();
    expect(gh.deliveries.map((one) => one.status)).toEqual([200, null]);
  });

  it("can be delivered again, and by hand with a bad or missing signature", async () => {
    const hook = await receiver(202);
    const gh = await github({ webhook: hook.target });
    await asOwner(gh)("POST", `${REPO}/issues`, { title: "one" });
    await gh.deliveriesSettled();
    await gh.redeliver(gh.deliveries[0]?.id ?? "");
    const [first, again] = hook.received;
    expect(again?.body).toBe(first?.body);
    expect(again?.headers["x-github-delivery"]).toBe(first?.headers["x-github-delivery"]);

    expect(await gh.deliver("ping", { zen: "." }, { id: "fixed", signature: "bad" })).toEqual({
      status: 202,
    });
    await gh.deliver("ping", { zen: "." }, { signature: "missing" });
    const [bad, missing] = hook.received.slice(-2);
    expect(bad?.headers["x-github-delivery"]).toBe("fixed");
    expect(bad?.headers["x-hub-signature-256"]).not.toBe(signatureOf(bad?.body ?? "", "s3cret"));
    expect(missing?.headers["x-hub-signature-256"]).toBeUndefined();
  });
});

describe("dispatches", () => {
  const files = {
    ".github/workflows/crunch.yml": "on:\n  workflow_dispatch:\n",
    ".github/workflows/ci.yml": "on: push\n",
  };

  it("of a workflow are recorded with their inputs and told to the App", async () => {
    const gh = await github({ files });
    const path = (name: string) => `${REPO}/actions/workflows/${name}/dispatches`;
    const body = { ref: "main", inputs: { issue: "7" } };
    expect((await asActions(gh)("POST", path("crunch.yml"), body)).status).toBe(204);
    expect(gh.workflowDispatches).toMatchObject([
      { workflow: "crunch.yml", ref: "main", inputs: { issue: "7" }, login: "github-actions[bot]" },
    ]);
    expect(gh.deliveries.at(-1)).toMatchObject({
      event: "workflow_dispatch",
      payload: { inputs: { issue: "7" } },
    });
    expect((await asActions(gh)("POST", path("none.yml"), body)).status).toBe(404);
    expect((await asActions(gh)("POST", path("ci.yml"), body)).status).toBe(422);
    expect((await asActions(gh)("POST", path("crunch.yml"), { ref: "gone" })).status).toBe(422);
  });

  it("of a repository are recorded and told to the App", async () => {
    const gh = await github();
    const body = { event_type: "crunch", client_payload: { issue: 7 } };
    expect((await asActions(gh)("POST", `${REPO}/dispatches`, body)).status).toBe(204);
    expect(gh.dispatches).toMatchObject([{ eventType: "crunch", clientPayload: { issue: 7 } }]);
    expect(gh.deliveries.at(-1)).toMatchObject({ event: "repository_dispatch", action: "crunch" });
  });

  it("leave the state of a runner's run to the test", async () => {
    const gh = await github();
    gh.setRunnerRun(42, "in_progress");
    expect((await asActions(gh)("GET", `${REPO}/actions/runs/42`)).body).toMatchObject({
      id: 42,
      status: "in_progress",
    });
    gh.setRunnerRun(42, "completed");
    expect((await asActions(gh)("GET", `${REPO}/actions/runs/42`)).body.status).toBe("completed");
    expect((await asActions(gh)("GET", `${REPO}/actions/runs/43`)).status).toBe(404);
  });
});

describe("pull requests", () => {
  it("follow their branch, with a synchronize event and checks on the new head", async () => {
    const gh = await github();
    const api = asActions(gh);
    const before = await branch(api, "feature/x", { a: "1" });
    const { body: pull } = await api("POST", `${REPO}/pulls`, {
      title: "p",
      head: "feature/x",
      base: "main",
    });
    const after = await commit(api, { a: "2" }, "feature/x");
    expect((await api("PATCH", `${REPO}/git/refs/heads/feature/x`, { sha: after })).status).toBe(200);
    expect((await api("GET", `${REPO}/pulls/${pull.number}`)).body.head.sha).toBe(after);
    expect((await api("GET", `${REPO}/pulls?head=octo:feature/x`)).body[0].head.sha).toBe(after);
    expect(gh.deliveries.at(-1)).toMatchObject({
      event: "pull_request",
      action: "synchronize",
      payload: { before, after, number: pull.number, pull_request: { head: { sha: after } } },
    });
    await api("POST", `${REPO}/check-runs`, { name: "gate", head_sha: after, conclusion: "success" });
    const { body } = await api("GET", `${REPO}/commits/feature/x/check-runs`);
    expect(body.check_runs[0]).toMatchObject({
      status: "completed",
      pull_requests: [{ number: pull.number }],
    });
    const { body: commits } = await api("GET", `${REPO}/pulls/${pull.number}/commits`);
    expect(commits.map((one: { sha: string }) => one.sha)).toEqual([before, after]);
    const { body: changed } = await api("GET", `${REPO}/pulls/${pull.number}/files`);
    expect(changed.map((one: { filename: string }) => one.filename)).toEqual(["a"]);
  });

  it("are refused when one is open already, the head is missing or nothing differs", async () => {
    const gh = await github();
    const api = asActions(gh);
    await branch(api, "feature/x", { a: "1" });
    const body = { title: "p", head: "feature/x", base: "main" };
    const first = await api("POST", `${REPO}/pulls`, body);
    const second = await api("POST", `${REPO}/pulls`, body);
    expect([first.status, second.status]).toEqual([201, 422]);
    expect(second.body.errors[0].message).toBe("A pull request already exists for octo:feature/x.");
    expect((await api("POST", `${REPO}/pulls`, { ...body, head: "gone" })).status).toBe(422);
    const main = (await api("GET", `${REPO}/git/ref/heads/main`)).body.object.sha;
    await api("POST", `${REPO}/git/refs`, { ref: "refs/heads/same", sha: main });
    const same = await api("POST", `${REPO}/pulls`, { ...body, head: "same" });
    expect(same.body.errors[0].message).toBe("No commits between main and same");
    await api("PATCH", `${REPO}/pulls/${first.body.number}`, { state: "closed" });
    expect((await api("POST", `${REPO}/pulls`, body)).status).toBe(201);
  });

  it("merge what both branches hold now, and close with their branch", async () => {
    const gh = await github();
    const api = asOwner(gh);
    await branch(api, "feature/x", { a: "1" });
    const { body: pull } = await api("POST", `${REPO}/pulls`, {
      title: "p",
      head: "feature/x",
      base: "main",
    });
    const head = await commit(api, { a: "2" }, "feature/x");
    await api("PATCH", `${REPO}/git/refs/heads/feature/x`, { sha: head });
    await api("PATCH", `${REPO}/git/refs/heads/main`, { sha: await commit(api, { b: "1" }, "main") });
    const merged = await api("PUT", `${REPO}/pulls/${pull.number}/merge`, { sha: head });
    expect(merged.body.merged).toBe(true);
    const raw = { accept: "application/vnd.github.raw" };
    expect((await api("GET", `${REPO}/contents/a`, undefined, raw)).body).toBe("2");
    expect((await api("GET", `${REPO}/contents/b`, undefined, raw)).body).toBe("1");
    expect((await api("GET", `${REPO}/pulls/${pull.number}`)).body).toMatchObject({
      merged: true,
      merge_commit_sha: merged.body.sha,
    });

    await branch(api, "feature/y", { c: "1" });
    const { body: other } = await api("POST", `${REPO}/pulls`, {
      title: "q",
      head: "feature/y",
      base: "main",
    });
    await api("DELETE", `${REPO}/git/refs/heads/feature/y`);
    expect((await api("GET", `${REPO}/pulls/${other.number}`)).body.state).toBe("closed");
  });

  it("tell of their labels as pull requests", async () => {
    const gh = await github();
    const api = as(gh, gh.tokenFor("wim"));
    await branch(api, "feature/x", { a: "1" });
    const { body: pull } = await api("POST", `${REPO}/pulls`, {
      title: "p",
      head: "feature/x",
      base: "main",
    });
    await api("POST", `${REPO}/issues/${pull.number}/labels`, { labels: ["a"] });
    expect(gh.deliveries.at(-1)).toMatchObject({
      event: "pull_request",
      action: "labeled",
      payload: { label: { name: "a" }, pull_request: { number: pull.number }, sender: { login: "wim" } },
    });
  });
});
