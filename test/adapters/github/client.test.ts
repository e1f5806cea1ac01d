import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createClient, repeated } from "../../../src/adapters/github/client.js";
import {
  type EmbeddedGitHub,
  type FaultEffect,
  startEmbeddedGitHub,
} from "../../../src/embedded-github/index.js";
import { CrunchError } from "../../../src/errors.js";

let gh: EmbeddedGitHub;
/** How long the client was told to wait, in order. */
let waits: number[] = [];
beforeAll(async () => {
  gh = await startEmbeddedGitHub({
    ...{ owner: "octo", repo: "demo", files: { "README.md": "# Demo\n" } },
    people: { mia: "write" },
  });
});
afterAll(() => gh.close());
afterEach(() => {
  gh.faults.clear();
  gh.requests.reset();
  waits = [];
});

const names = { owner: "octo", repo: "demo" };

function aClient(token: string | (() => Promise<string>) = gh.tokenFor("octo"), told: string[] = []) {
  const sleep = async (ms: number) => void waits.push(ms);
  return createClient({ baseUrl: gh.url, token, sleep, onRetry: (message) => told.push(message) });
}

const strike = (method: string, times: number, effect: FaultEffect) =>
  gh.faults.add({ match: { method }, times, effect });

const refusal = (headers: Record<string, string>, message = "Refused", status = 403): FaultEffect => ({
  ...{ kind: "status", status, headers },
  body: { message },
});

const secondary = "You have exceeded a secondary rate limit. Please wait a few minutes.";
const secondsFromNow = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);

describe("a read", () => {
  it.each<[string, FaultEffect]>([
    ["fails with 500", { kind: "status", status: 500 }],
    ["fails with 503", { kind: "status", status: 503 }],
    ["is cut off", { kind: "reset" }],
  ])("that %s is repeated, each time after a longer wait", async (_, effect) => {
    strike("GET", 3, effect);
    const told: string[] = [];
    const { data } = await aClient(undefined, told).repos.get(names);
    expect(data.name).toBe("demo");
    expect(waits).toEqual([500, 1_000, 2_000]);
    expect(told).toHaveLength(3);
    expect(told[0]).toContain("GET");
  });

  it("is given up after five tries, with GitHub's own error", async () => {
    strike("GET", 99, { kind: "status", status: 502 });
    await expect(aClient().repos.get(names)).rejects.toMatchObject({ status: 502 });
    expect(gh.requests.count()).toBe(5);
  });

  it.each([404, 401, 422, 403])("that is answered with %i is not repeated", async (status) => {
    strike("GET", 99, { kind: "status", status });
    await expect(aClient().repos.get(names)).rejects.toMatchObject({ status });
    expect(gh.requests.count()).toBe(1);
    expect(waits).toEqual([]);
  });
});

describe("a write", () => {
  const effects: [string, FaultEffect][] = [
    ["fails with 500", { kind: "status", status: 500 }],
    ["is cut off", { kind: "reset" }],
    ["loses its answer", { kind: "lost" }],
    ["is applied and answered with 502", { kind: "lost-status", status: 502 }],
  ];

  it.each(effects)("that %s is never repeated", async (_, effect) => {
    for (const method of ["POST", "PATCH", "PUT", "DELETE"]) strike(method, 1, effect);
    const { issues } = aClient();
    const client = aClient();
    await expect(client.issues.create({ ...names, title: "once" })).rejects.toThrow();
    await expect(issues.updateComment({ ...names, comment_id: 1, body: "x" })).rejects.toThrow();
    await expect(issues.setLabels({ ...names, issue_number: 1, labels: [] })).rejects.toThrow();
    await expect(issues.removeLabel({ ...names, issue_number: 1, name: "x" })).rejects.toThrow();
    expect(gh.requests.entries.map(({ method }) => method)).toEqual(["POST", "PATCH", "PUT", "DELETE"]);
    expect(waits).toEqual([]);
  });

  it("that a rate limit refused is repeated, because it did not take place", async () => {
    strike("POST", 1, refusal({ "retry-after": "3" }, secondary));
    await aClient().issues.create({ ...names, title: "after the limit" });
    expect(waits).toEqual([3_000]);
    expect(gh.requests.count("/repos/:owner/:repo/issues", "POST")).toBe(2);
  });

  it("that is forbidden is not repeated", async () => {
    strike("POST", 99, refusal({}, "Resource not accessible by integration"));
    await expect(aClient().issues.create({ ...names, title: "no" })).rejects.toMatchObject({ status: 403 });
    expect(gh.requests.count()).toBe(1);
  });
});

describe("a rate limit", () => {
  it.each([403, 429])("with Retry-After (%i) is waited for as long as it says", async (status) => {
    strike("GET", 2, refusal({ "retry-after": "42" }, "Slow down", status));
    await aClient().repos.get(names);
    expect(waits).toEqual([42_000, 42_000]);
  });

  it("obeys Retry-After before the reset", async () => {
    const reset = secondsFromNow(300);
    strike(
      "GET",
      1,
      refusal({ "retry-after": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset }),
    );
    await aClient().repos.get(names);
    expect(waits).toEqual([5_000]);
  });

  it("without Retry-After is waited for until its reset", async () => {
    const reset = secondsFromNow(120);
    strike("GET", 1, refusal({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset }));
    await aClient().repos.get(names);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThan(119_000);
    expect(waits[0]).toBeLessThanOrEqual(121_000);
  });

  it("whose reset is past is tried again after a second", async () => {
    const reset = secondsFromNow(-60);
    strike("GET", 1, refusal({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset }));
    await aClient().repos.get(names);
    expect(waits).toEqual([1_000]);
  });

  it("without any header is waited for a minute, growing", async () => {
    strike("POST", 3, refusal({}, secondary));
    await aClient().issues.create({ ...names, title: "patience" });
    expect(waits).toEqual([60_000, 120_000, 240_000]);
  });

  it("without a reset that can be read is waited for a minute too", async () => {
    strike("GET", 1, refusal({ "x-ratelimit-remaining": "0" }, "API rate limit exceeded"));
    await aClient().repos.get(names);
    expect(waits).toEqual([60_000]);
  });

  it("that does not end is given up after five tries, and says so", async () => {
    strike("GET", 99, refusal({ "retry-after": "1" }));
    const refused = aClient().repos.get(names);
    await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "github_rate_limit" });
    expect(gh.requests.count()).toBe(5);
    expect(waits).toEqual([1_000, 1_000, 1_000, 1_000]);
  });

  it.each<[string, () => Record<string, string>]>([
    ["Retry-After", () => ({ "retry-after": "4201" })],
    ["a reset", () => ({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": secondsFromNow(4_500) })],
  ])("of much more than an hour by %s is refused without waiting", async (_, headers) => {
    strike("GET", 99, refusal(headers()));
    const error: unknown = await aClient()
      .repos.get(names)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CrunchError);
    expect(error).toMatchObject({ code: "github_rate_limit", cause: { status: 403 } });
    expect(error).toMatchObject({ message: expect.stringMatching(/another (71|76) minutes/) });
    expect(waits).toEqual([]);
    expect(gh.requests.count()).toBe(1);
  });

  it("of an hour is waited for, as that is how long the primary one may last", async () => {
    strike("POST", 1, refusal({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": secondsFromNow(3_600) }));
    await aClient().issues.create({ ...names, title: "an hour later" });
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThan(3_590_000);
  });

  it("is not waited for any longer once the process is told to stop", async () => {
    strike("GET", 99, refusal({ "retry-after": "3600" }));
    const stop = new AbortController();
    const client = createClient({ baseUrl: gh.url, token: gh.tokenFor("octo"), signal: stop.signal });
    const asked = client.repos.get(names);
    setTimeout(() => stop.abort(), 50);
    await expect(asked).rejects.toMatchObject({ name: "CrunchError", code: "interrupted" });
    await expect(client.repos.get(names)).rejects.toMatchObject({ code: "interrupted" });
    expect(gh.requests.count()).toBe(2);
  });
});

describe("the token", () => {
  it("is asked for anew with each request", async () => {
    const tokens = ["octo", "mia", "octo"].map((login) => gh.tokenFor(login));
    const client = aClient(async () => tokens.shift() ?? "");
    for (let nth = 0; nth < 3; nth++) await client.repos.get(names);
    expect(gh.requests.entries.map(({ login }) => login)).toEqual(["octo", "mia", "octo"]);
  });

  it("is asked for anew after a wait, because the old one may have ended", async () => {
    const tokens = ["octo", "mia"].map((login) => gh.tokenFor(login));
    strike("GET", 1, refusal({ "retry-after": "600" }));
    await aClient(async () => tokens.shift() ?? "").repos.get(names);
    expect(gh.requests.entries.map(({ login }) => login)).toEqual(["octo", "mia"]);
  });

  it("that can't be had fails the request before it is sent", async () => {
    const client = aClient(() => Promise.reject(new Error("no token today")));
    await expect(client.repos.get(names)).rejects.toThrow("no token today");
    expect(gh.requests.count()).toBe(0);
  });
});

describe("a write that may take place twice", () => {
  const failing = (times: number, status: number) => {
    let calls = 0;
    const request = async () => {
      if (++calls <= times) throw Object.assign(new Error("no"), { status, response: {} });
      return calls;
    };
    return { request, calls: () => calls };
  };

  it("is repeated at once, and after a moment", async () => {
    expect(await repeated(failing(2, 503).request)).toBe(3);
    await expect(repeated(failing(3, 503).request)).rejects.toMatchObject({ status: 503 });
  });

  it("is not repeated when it was refused", async () => {
    const refused = failing(1, 422);
    await expect(repeated(refused.request)).rejects.toMatchObject({ status: 422 });
    expect(refused.calls()).toBe(1);
  });
});
