import { createServer } from "node:net";
import { expect, it } from "vitest";
import { startEmbeddedGitHub } from "../../src/embedded-github/index.js";
import { as, github, REPO } from "./world.js";

const options = { owner: "octo", repo: "demo", files: { a: "1" } };

it("starts well under a second, and another beside it", async () => {
  await github();
  const started = performance.now();
  const other = await github();
  expect(performance.now() - started).toBeLessThan(500);
  expect((await as(other, null)("GET", `${REPO}/contents/README.md`)).status).toBe(200);
});

it("frees its port and leaves nothing open when closed, even with a request and a webhook under way", async () => {
  const mute = createServer((socket) => socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const address = mute.address();
  const port = typeof address === "object" ? address?.port : 0;
  const gh = await startEmbeddedGitHub({
    ...options,
    webhook: { url: `http://127.0.0.1:${port}/`, secret: "x" },
  });
  await as(gh, gh.tokenFor("octo"))("POST", `${REPO}/issues`, { title: "one" });
  gh.faults.add({ match: {}, effect: { kind: "delay", ms: 60_000 } });
  const hanging = as(gh, gh.tokenFor("octo"))("GET", REPO).catch(() => "cut");
  await new Promise((resolve) => setTimeout(resolve, 30));
  const started = performance.now();
  await gh.close();
  expect(await hanging).toBe("cut");
  expect(performance.now() - started).toBeLessThan(500);
  await new Promise((resolve) => mute.close(resolve));
  const again = await startEmbeddedGitHub({ ...options, port: Number(new URL(gh.url).port) });
  expect(again.url).toBe(gh.url);
  await again.close();
});

it("says whom it knows when asked for a stranger's token", async () => {
  const gh = await github();
  expect(() => gh.tokenFor("nobody")).toThrow(/knows no nobody/);
});
