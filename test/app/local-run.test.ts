import { cpSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { createMemoryStore, type MemoryChains } from "../../src/adapters/memory/checkpoint-store.js";
import { handleEvent } from "../../src/app/handle-event.js";
import { createLocalDependencies, localUser } from "../../src/app/local-dependencies.js";
import type { CrunchEvent } from "../../src/engine/events.js";
import { belongings, useCheckout } from "../adapters/local/checkout.js";

const sample = fileURLToPath(new URL("../../sample/", import.meta.url));
const branch = "feature/issue-1-durations-of-several-parts-lose-all-but";
const issueFile = ".claude/crunch/1/issue.md";
const checkout = useCheckout();
let chains: MemoryChains;
let said: string[] = [];
let checked: string[] = [];
let onCheck = () => {};

beforeEach(async () => {
  chains = new Map();
  [said, checked] = [[], []];
  onCheck = () => {};
  cpSync(join(sample, "repo"), checkout.root, { recursive: true });
  const config = await readFile(join(sample, "repo/.github/crunch.yml"), "utf8");
  const command = [process.execPath, join(sample, "agent.mjs")];
  const agent = { command, timeout: "1m", env: { CRUNCH_SAMPLE_PACE_MS: "1" } };
  await checkout.write({ ".github/crunch.yml": `${config}agents: ${JSON.stringify({ sample: agent })}\n` });
  checkout.commitAll();
  const [title, ...body] = (await readFile(join(sample, "issue.md"), "utf8")).split("\n");
  const text = ["---", "labels: [bug, state:enrich]  # by hand", "---", `# ${title}`, ...body].join("\n");
  await checkout.write({ [issueFile]: text });
});

async function handle(event: CrunchEvent) {
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const deps = await createLocalDependencies({
    root: checkout.root,
    store: () => createMemoryStore(chains),
    redact: (text) => text,
    log: silent,
    signal: new AbortController().signal,
    onComment: (text) => said.push(text),
    onCheck: ({ name, conclusion }) => {
      checked.push(`${name} ${conclusion}`);
      onCheck();
    },
  });
  return handleEvent(deps, event);
}

const labeled = (label: string): CrunchEvent => ({
  ...{ kind: "labeled", issue: 1, key: `label ${label}`, label, actor: localUser() },
});

/** All of the person's but the issue's own folder, where Crunch writes, and the times of the folders around it. */
function untouched() {
  const isOurs = ([name]: [string, string]) => name === ".claude" || name.startsWith(".claude/");
  return Object.entries(belongings(checkout.root)).filter((entry) => !isOurs(entry));
}

describe("a run on a checkout without GitHub", () => {
  it("takes the issue from enrich to done, and leaves the person's files, index and branch alone", async () => {
    await checkout.write({ "README.md": "half an edit\n", "scratch.txt": "mine\n" });
    checkout.git("add", "scratch.txt");
    const before = untouched();
    const main = checkout.git("rev-parse", "main");
    const outcome = await handle(labeled("state:enrich"));
    expect(outcome.status, JSON.stringify(outcome)).toBe("finished");

    const issue = await readFile(join(checkout.root, issueFile), "utf8");
    expect(issue).toContain("labels: [bug, state:done]  # by hand\n---\n# Durations of several parts");
    expect(await readdir(join(checkout.root, ".claude/crunch/1"))).toEqual(["comments", "issue.md"]);
    expect(await readdir(join(checkout.root, ".claude/crunch/1/comments"))).toEqual(["status.md"]);
    expect(said.at(-1)).toContain("Crunch is done");
    expect(checked).toEqual(expect.arrayContaining([expect.stringMatching(/tests success/)]));

    const changed = checkout.git("diff", "--name-only", main, branch).split("\n");
    expect(changed).toContain("src/parse-duration.mjs");
    expect(changed.filter((path) => path.startsWith(".claude"))).toEqual([]);
    expect(checkout.git("show", "-s", "--format=%an <%ae>", branch)).toBe("Ana <ana@example.test>");
    checkout.git("worktree", "add", "--quiet", "--detach", join(checkout.temp, "result"), branch);
    const url = join(checkout.temp, "result/src/parse-duration.mjs");
    const { parseDuration } = (await import(url)) as { parseDuration: (text: string) => number };
    expect(parseDuration("1h30m")).toBe(5_400_000);

    checkout.git("worktree", "remove", join(checkout.temp, "result"));
    expect(checkout.git("rev-parse", "main")).toBe(main);
    expect(untouched()).toEqual(before);
  });

  it("stops with advice when somebody looks at the branch meanwhile, and ends when they have left", async () => {
    const other = join(checkout.temp, "other");
    // The first check is told as soon as the branch shows the fix.
    onCheck = () => {
      onCheck = () => {};
      checkout.git("worktree", "add", "--quiet", other, branch);
    };
    const stopped = await handle(labeled("state:enrich"));
    expect(stopped).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("git switch --detach"),
    });
    expect(said.at(-1)).toContain("is checked out in");
    const seen = checkout.git("rev-parse", branch);
    expect(checkout.git("-C", other, "status", "--porcelain")).toBe("");

    checkout.git("-C", other, "switch", "--quiet", "--detach");
    expect(await handle({ kind: "started", issue: 1, key: "started" })).toMatchObject({ status: "finished" });
    expect(checkout.git("rev-parse", `${branch}^`)).toBe(seen);
    expect(checkout.git("diff", "--name-only", seen, branch)).toBe("CHANGELOG.md");
  });

  it("says what is wrong with an issue's file, and where", async () => {
    await checkout.write({ [issueFile]: "---\nlabels: bug\n---\n# T\n" });
    const outcome = await handle(labeled("state:enrich"));
    expect(outcome).toMatchObject({
      status: "failed",
      reason: expect.stringContaining(`${issueFile}, line 2`),
    });
    expect(said.join()).toContain("line 2");
  });

  it("is configured by what is committed", async () => {
    await checkout.write({ ".github/crunch.yml": "agent: [" });
    const outcome = await handle({ ...labeled("state:ready"), issue: 7 });
    expect(outcome).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("There is no issue 7"),
    });
    checkout.commitAll();
    const refused = await handle(labeled("state:enrich"));
    expect(refused).toMatchObject({ status: "refused", code: "config_invalid" });
  });
});
