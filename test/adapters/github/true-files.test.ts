import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createClient } from "../../../src/adapters/github/client.js";
import { createCodeHost } from "../../../src/adapters/github/code-host.js";
import { verifyFiles } from "../../../src/adapters/github/true-files.js";
import { type EmbeddedGitHub, startEmbeddedGitHub } from "../../../src/embedded-github/index.js";

const files = {
  "README.md": "# Demo\n",
  "src/version.ts": 'export const version = "$Format:%H$";\n',
  "test/deep/a.test.ts": "test\n",
  "windows.bat": "one\ntwo\n",
};
let gh: EmbeddedGitHub;
let root = "";
const at = (path: string) => join(root, path);

beforeAll(async () => {
  gh = await startEmbeddedGitHub({ owner: "octo", repo: "demo", files });
});
afterAll(() => gh.close());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "crunch-test-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The folder as a tarball left it, put right. */
async function verified(unpacked: Readonly<Record<string, string>>) {
  for (const [path, content] of Object.entries(unpacked)) {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), content);
  }
  const octokit = createClient({ baseUrl: gh.url, token: gh.actionsToken, sleep: async () => {} });
  const repository = { octokit, owner: "octo", repo: "demo", defaultBranch: "main" };
  const head = await createCodeHost(repository).head("main");
  gh.requests.reset();
  await verifyFiles(repository, head?.sha ?? "", root);
  return gh.requests.entries.map(({ route }) => route.replace("/repos/:owner/:repo", ""));
}

const attributes = { ".gitattributes": "test export-ignore\n*.ts export-subst\n" };

it("files that the tarball left out or filled in are the commit's again", async () => {
  const { "test/deep/a.test.ts": _, ...rest } = files;
  const filledIn = { "src/version.ts": 'export const version = "abc";\n', "windows.bat": "one\r\ntwo\r\n" };
  const requests = await verified({ ...rest, ...attributes, ...filledIn });
  expect(await readFile(at("test/deep/a.test.ts"), "utf8")).toBe("test\n");
  expect(await readFile(at("src/version.ts"), "utf8")).toBe(files["src/version.ts"]);
  // Line ends are git's to turn back.
  expect(await readFile(at("windows.bat"), "utf8")).toBe("one\r\ntwo\r\n");
  expect(requests).toHaveLength(3);
});

it("also where the attributes themselves were left out", async () => {
  const { "test/deep/a.test.ts": _, ...rest } = files;
  await verified(rest);
  expect(existsSync(at("test/deep/a.test.ts"))).toBe(true);
});

it("nothing is asked for when no attribute says so, and one list when there are none", async () => {
  expect(await verified({ ...files, ".gitattributes": "*.bat text eol=crlf\n" })).toEqual([]);
  await rm(at(".gitattributes"));
  expect(await verified(files)).toHaveLength(1);
});
