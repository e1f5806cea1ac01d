import { expect, it } from "vitest";
import { as, asActions, asOwner, commit, github, REPO } from "./world.js";

const annotation = (i: number) => ({
  path: "a",
  start_line: i + 1,
  end_line: i + 1,
  annotation_level: "warning",
  message: `m${i}`,
});

it("a check run keeps to GitHub's limits", async () => {
  const gh = await github();
  const api = asActions(gh);
  const head_sha = await commit(asOwner(gh), { a: "1" });
  const create = (output: Record<string, unknown>) =>
    api("POST", `${REPO}/check-runs`, {
      name: "gate",
      head_sha,
      output: { title: "t", summary: "s", ...output },
    });
  expect((await create({ summary: "x".repeat(65_535) })).status).toBe(201);
  expect((await create({ summary: "x".repeat(65_536) })).status).toBe(422);
  expect((await create({ text: "x".repeat(65_536) })).status).toBe(422);
  const many = Array.from({ length: 51 }, (_, i) => annotation(i));
  expect((await create({ annotations: many })).status).toBe(422);
  expect((await create({ annotations: many.slice(1) })).status).toBe(201);
  const unknown = { name: "gate", head_sha: "0".repeat(40) };
  expect((await api("POST", `${REPO}/check-runs`, unknown)).status).toBe(422);
});

it("a check run keeps its external id, its App and annotations sent in parts", async () => {
  const gh = await github();
  const api = asActions(gh);
  const head_sha = await commit(asOwner(gh), { a: "1" });
  const output = { title: "t", summary: "s", annotations: [annotation(0)] };
  const { body: run } = await api("POST", `${REPO}/check-runs`, {
    name: "gate",
    head_sha,
    external_id: "CP-1",
    output,
  });
  expect(run).toMatchObject({ external_id: "CP-1", app: { slug: "github-actions" }, status: "queued" });
  const more = { conclusion: "failure", output: { ...output, annotations: [annotation(1)] } };
  const { body: done } = await api("PATCH", `${REPO}/check-runs/${run.id}`, more);
  expect(done).toMatchObject({
    status: "completed",
    conclusion: "failure",
    output: { annotations_count: 2 },
  });
  const list = await api("GET", `${REPO}/check-runs/${run.id}/annotations`);
  expect(list.body.map((one: { message: string }) => one.message)).toEqual(["m0", "m1"]);
  expect(gh.deliveries.filter((one) => one.event === "check_run").map((one) => one.action)).toEqual([
    "created",
    "completed",
  ]);
});

it("check runs are listed by name, the latest or all, in pages", async () => {
  const gh = await github();
  const api = asActions(gh);
  const head_sha = await commit(asOwner(gh), { a: "1" });
  for (const name of ["a", "b", "a"]) await api("POST", `${REPO}/check-runs`, { name, head_sha });
  const count = async (query: string) =>
    (await as(gh, null)("GET", `${REPO}/commits/${head_sha}/check-runs${query}`)).body.total_count;
  expect(await count("")).toBe(2);
  expect(await count("?filter=all")).toBe(3);
  expect(await count("?filter=all&check_name=a")).toBe(2);
  expect(await count("?check_name=b")).toBe(1);
  const page = await api("GET", `${REPO}/commits/${head_sha}/check-runs?filter=all&per_page=2&page=2`);
  expect([page.body.check_runs.length, page.headers.get("link")?.includes('rel="prev"')]).toEqual([1, true]);
});
