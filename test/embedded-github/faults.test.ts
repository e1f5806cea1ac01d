import { expect, it } from "vitest";
import { asOwner, github, REPO } from "./world.js";

const titles = async (api: ReturnType<typeof asOwner>): Promise<string[]> =>
  (await api("GET", `${REPO}/issues?direction=asc`)).body.map((one: { title: string }) => one.title);

it("a status fault answers so without applying, and only as often as asked", async () => {
  const gh = await github();
  const api = asOwner(gh);
  gh.faults.add({
    match: { method: "POST", path: /\/issues$/ },
    nth: 2,
    times: 2,
    effect: { kind: "status", status: 403, headers: { "retry-after": "1" }, body: { message: "slow down" } },
  });
  const seen = [];
  for (const title of ["1", "2", "3", "4"]) seen.push(await api("POST", `${REPO}/issues`, { title }));
  expect(seen.map((one) => one.status)).toEqual([201, 403, 403, 201]);
  expect([seen[1]?.headers.get("retry-after"), seen[1]?.body.message]).toEqual(["1", "slow down"]);
  expect(await titles(api)).toEqual(["1", "4"]);
});

it("a reset loses the request, a lost answer only the answer", async () => {
  const gh = await github();
  const api = asOwner(gh);
  const match = { method: "POST", path: /\/issues$/ };
  gh.faults.add({ match, effect: { kind: "reset" } });
  await expect(api("POST", `${REPO}/issues`, { title: "reset" })).rejects.toThrow();
  expect(await titles(api)).toEqual([]);
  gh.faults.add({ match, effect: { kind: "lost" } });
  await expect(api("POST", `${REPO}/issues`, { title: "lost" })).rejects.toThrow();
  gh.faults.add({ match, effect: { kind: "lost-status", status: 502 } });
  expect((await api("POST", `${REPO}/issues`, { title: "502" })).status).toBe(502);
  expect(await titles(api)).toEqual(["lost", "502"]);
});

it("a delay is only slow, and a fault can be taken away", async () => {
  const gh = await github();
  const api = asOwner(gh);
  gh.faults.add({ match: {}, effect: { kind: "delay", ms: 60 } });
  const started = performance.now();
  expect((await api("GET", REPO)).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(55);
  const remove = gh.faults.add({ match: {}, times: 9, effect: { kind: "status", status: 500 } });
  remove();
  expect((await api("GET", REPO)).status).toBe(200);
});

it("every request is logged by its route", async () => {
  const gh = await github();
  const api = asOwner(gh);
  const seen: string[] = [];
  const unsubscribe = gh.requests.subscribe(({ method, status }) => seen.push(`${method} ${status}`));
  await api("POST", `${REPO}/issues`, { title: "one" });
  await api("POST", `${REPO}/issues/1/labels`, { labels: ["a"] });
  unsubscribe();
  await api("GET", `${REPO}/issues/1`);
  expect(seen).toEqual(["POST 201", "POST 200"]);
  expect(gh.requests.byRoute()).toEqual({
    "POST /repos/:owner/:repo/issues": 1,
    "POST /repos/:owner/:repo/issues/:number/labels": 1,
    "GET /repos/:owner/:repo/issues/:number": 1,
  });
  expect(gh.requests.entries[0]).toMatchObject({ path: `${REPO}/issues`, login: "octo", status: 201 });
  gh.requests.reset();
  expect(gh.requests.count()).toBe(0);
});
