import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createCheckReporter } from "../../../src/adapters/github/check-reporter.js";
import { createClient } from "../../../src/adapters/github/client.js";
import {
  type EmbeddedGitHub,
  type FaultEffect,
  startEmbeddedGitHub,
} from "../../../src/embedded-github/index.js";
import type { CheckRun } from "../../../src/ports.js";
import { asOwner, commit, REPO } from "../../embedded-github/world.js";

let gh: EmbeddedGitHub;
let made = 0;
beforeAll(async () => {
  gh = await startEmbeddedGitHub({ owner: "octo", repo: "demo", files: { "README.md": "# Demo\n" } });
});
afterAll(() => gh.close());
afterEach(() => {
  gh.faults.clear();
  gh.requests.reset();
});

function aReporter(token = gh.actionsToken) {
  const octokit = createClient({ baseUrl: gh.url, token, sleep: async () => {} });
  return createCheckReporter({ octokit, owner: "octo", repo: "demo", defaultBranch: "main" });
}

const aHead = () => commit(asOwner(gh), { "a.md": String(++made) }, "main", `Commit ${made}`);
const aRun = (changes: Partial<CheckRun> = {}): CheckRun => ({
  ...{ name: "crunch / tests", externalId: `CP-1:tests:${++made}`, conclusion: "success" },
  ...{ title: "Tests pass", summary: "All 12" },
  ...changes,
});

interface Reported {
  readonly name: string;
  readonly external_id: string;
  readonly conclusion: string;
  readonly status: string;
  readonly output: { readonly title: string; readonly summary: string };
}

const runsOf = async (head: string): Promise<readonly Reported[]> =>
  (await asOwner(gh)("GET", `${REPO}/commits/${head}/check-runs?per_page=100&filter=all`)).body.check_runs;
const idsOf = async (head: string) => (await runsOf(head)).map((run) => run.external_id).sort();

it("every gate is a completed check with its conclusion", async () => {
  const head = await aHead();
  const runs = (["success", "failure", "neutral"] as const).map((conclusion) =>
    aRun({ conclusion, name: `crunch / ${conclusion}` }),
  );
  expect(await aReporter().report(head, runs, { fresh: true })).toBe("reported");
  const found = await runsOf(head);
  expect(found).toHaveLength(3);
  for (const { name, externalId, conclusion, title, summary } of runs)
    expect(found.find((run) => run.external_id === externalId)).toMatchObject({
      ...{ name, conclusion, status: "completed", output: { title, summary } },
    });
});

it("a fresh head costs one request a check", async () => {
  const head = await aHead();
  gh.requests.reset();
  await aReporter().report(head, [aRun(), aRun()], { fresh: true });
  expect(gh.requests.byRoute()).toEqual({ "POST /repos/:owner/:repo/check-runs": 2 });
});

it("nothing to report asks nothing of GitHub", async () => {
  expect(await aReporter().report("0".repeat(40), [], { fresh: false })).toBe("reported");
  expect(gh.requests.count()).toBe(0);
});

it("a second report makes only the checks that are missing", async () => {
  const head = await aHead();
  const [one, two, three] = [aRun(), aRun(), aRun()];
  await aReporter().report(head, [one, two], { fresh: true });
  await aReporter().report(head, [one, two, three], { fresh: false });
  await aReporter().report(head, [one, two, three], { fresh: false });
  expect(await idsOf(head)).toEqual([one, two, three].map(({ externalId }) => externalId).sort());
});

it("a new result of the same gate is a new check", async () => {
  const head = await aHead();
  await aReporter().report(head, [aRun({ conclusion: "failure" })], { fresh: true });
  await aReporter().report(head, [aRun()], { fresh: false });
  expect((await runsOf(head)).map(({ conclusion }) => conclusion).sort()).toEqual(["failure", "success"]);
});

it("the same result on another head is reported there", async () => {
  const run = aRun();
  const heads = [await aHead(), await aHead()];
  for (const head of heads) await aReporter().report(head, [run], { fresh: false });
  for (const head of heads) expect(await idsOf(head)).toEqual([run.externalId]);
});

it("a result that is given twice is one check", async () => {
  const head = await aHead();
  const run = aRun();
  await aReporter().report(head, [run, run], { fresh: true });
  expect(await idsOf(head)).toEqual([run.externalId]);
});

it("checks behind the first hundred are known too", async () => {
  const head = await aHead();
  const runs = Array.from({ length: 103 }, () => aRun());
  await aReporter().report(head, runs, { fresh: true });
  gh.requests.reset();
  await aReporter().report(head, runs, { fresh: false });
  expect(gh.requests.count("/repos/:owner/:repo/check-runs", "POST")).toBe(0);
});

it.each<[string, FaultEffect]>([
  ["fails with 500", { kind: "status", status: 500 }],
  ["is cut off", { kind: "reset" }],
  ["is applied but the answer is lost", { kind: "lost" }],
  ["is applied but answered with 502", { kind: "lost-status", status: 502 }],
])("each check is there once when a request %s", async (_, effect) => {
  const head = await aHead();
  const runs = [aRun(), aRun(), aRun()];
  for (const nth of [1, 3]) gh.faults.add({ match: { method: "POST", path: /\/check-runs$/ }, nth, effect });
  expect(await aReporter().report(head, runs, { fresh: true })).toBe("reported");
  expect(await idsOf(head)).toEqual(runs.map(({ externalId }) => externalId).sort());
});

it("a token that is no App's is told so, and makes nothing", async () => {
  const head = await aHead();
  expect(await aReporter(gh.tokenFor("octo")).report(head, [aRun()], { fresh: true })).toBe("forbidden");
  expect(await runsOf(head)).toEqual([]);
});

it("a rate limit that is too long to wait for is no missing permission", async () => {
  const head = await aHead();
  const effect = { kind: "status", status: 403, headers: { "retry-after": "7200" } } as const;
  gh.faults.add({ match: { method: "POST", path: /\/check-runs$/ }, effect });
  const refused = aReporter().report(head, [aRun()], { fresh: true });
  await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "github_rate_limit" });
});

it("a summary is cut at 65,535 characters, with a note where", async () => {
  const head = await aHead();
  const fits = aRun({ summary: "y".repeat(65_535) });
  await aReporter().report(head, [aRun({ summary: "x".repeat(70_000) }), fits], { fresh: true });
  const summaries = (await runsOf(head)).map(({ output }) => output.summary).sort();
  expect(summaries.map((summary) => summary.length)).toEqual([65_535, 65_535]);
  expect(summaries[0]).toMatch(/^x+\n\n… \(cut here: .*\)$/);
  expect(summaries[1]).toBe(fits.summary);
});

it("a head that does not exist is an error", async () => {
  const refused = aReporter().report("1".repeat(40), [aRun()], { fresh: true });
  await expect(refused).rejects.toMatchObject({ status: 422 });
});
