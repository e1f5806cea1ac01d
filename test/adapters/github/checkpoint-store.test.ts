import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createGitHubStore } from "../../../src/adapters/github/checkpoint-store.js";
import { createClient } from "../../../src/adapters/github/client.js";
import { indexEntryOf } from "../../../src/checkpoint/index-entry.js";
import { defaultRetention } from "../../../src/checkpoint/retention.js";
import type { Checkpoint } from "../../../src/checkpoint/schema.js";
import {
  type EmbeddedGitHub,
  type FaultEffect,
  startEmbeddedGitHub,
} from "../../../src/embedded-github/index.js";
import { aChain, aFirst, aNext, expectWhole, last, put } from "../../contract/chains.js";
import { asOwner, REPO } from "../../embedded-github/world.js";

let gh: EmbeddedGitHub;
let issue = 0;
/** How long the client was told to wait, in order. */
let waits: number[] = [];
beforeAll(async () => {
  gh = await startEmbeddedGitHub({ owner: "octo", repo: "demo", files: { "README.md": "# Demo\n" } });
});
afterAll(() => gh.close());
afterEach(() => {
  gh.faults.clear();
  waits = [];
  issue += 10;
});

function aStore(template = "crunch/issue-{issue}", now?: () => number) {
  const sleep = async (ms: number) => void waits.push(ms);
  const octokit = createClient({ baseUrl: gh.url, token: gh.actionsToken, sleep });
  return createGitHubStore(
    { octokit, owner: "octo", repo: "demo", defaultBranch: "main" },
    template,
    now ? { now } : {},
  );
}

const api = (...args: Parameters<ReturnType<typeof asOwner>>) => asOwner(gh)(...args);
const newIssue = () => ++issue;
const branchOf = (number: number) => `crunch/issue-${number}`;
const tipOf = async (branch: string): Promise<string> =>
  (await api("GET", `${REPO}/git/ref/heads/${branch}`)).body.object.sha;
const moveByHand = (branch: string, sha: string) =>
  api("PATCH", `${REPO}/git/refs/heads/${branch}`, { sha, force: true });

/** Every commit of a branch along its first parents, newest first. */
async function commitsOf(branch: string) {
  const found: { sha: string; message: string; parents: string[] }[] = [];
  for (let sha: string | undefined = await tipOf(branch); sha; ) {
    const { body } = await api("GET", `${REPO}/git/commits/${sha}`);
    const parents: string[] = body.parents.map((parent: { sha: string }) => parent.sha);
    found.push({ sha, message: body.message, parents });
    sha = parents[0];
  }
  return found;
}

async function requestsDuring(action: () => Promise<unknown>): Promise<string[]> {
  const before = gh.requests.entries.length;
  await action();
  return gh.requests.entries
    .slice(before)
    .map(({ method, route }) => `${method} ${route.replace("/repos/:owner/:repo/git/", "")}`);
}

describe("the cost of a checkpoint", () => {
  it("is 3 requests when the tip is known, at the 2nd, the 10th and the 60th alike", async () => {
    const store = aStore();
    let checkpoint = aFirst(newIssue());
    await store.latest(checkpoint.issue_number);
    const create = await requestsDuring(() => put(store, checkpoint));
    expect(create).toEqual(["POST trees", "POST commits", "POST refs"]);
    for (let nth = 2; nth <= 60; nth++) {
      checkpoint = aNext(checkpoint);
      const requests = await requestsDuring(() => put(store, checkpoint));
      expect(requests, `the ${nth}th`).toEqual(["POST trees", "POST commits", "PATCH refs/:ref*"]);
    }
    expect(await aStore().list(checkpoint.issue_number)).toHaveLength(60);
  });

  it("is 3 requests on a shared branch too, while nobody else writes there", async () => {
    const store = aStore("cost-state");
    const [first] = await aChain(store, newIssue(), 1);
    expect(await requestsDuring(() => put(store, aNext(first ?? aFirst(issue))))).toHaveLength(3);
  });

  it("looking again at a branch that has not moved is one request", async () => {
    const store = aStore();
    await aChain(store, newIssue(), 2);
    expect(await requestsDuring(() => store.latest(issue))).toHaveLength(1);
  });
});

describe("the branch", () => {
  it("is an orphan, and its commits follow one another", async () => {
    const chain = await aChain(aStore(), newIssue(), 3);
    const commits = await commitsOf(branchOf(issue));
    expect(commits.map(({ parents }) => parents.length)).toEqual([1, 1, 0]);
    const ids = commits.map(({ message }) => /Checkpoint: (.+)/.exec(message)?.[1]);
    expect(ids).toEqual(chain.map(({ checkpoint_id }) => checkpoint_id).reverse());
  });

  it("gives back the commit that the put says", async () => {
    const result = await put(aStore(), aFirst(newIssue()));
    expect(result).toEqual({ status: "stored", commit: await tipOf(branchOf(issue)) });
  });

  it("holds the issue's folder and nothing else, with `latest` as a symlink", async () => {
    const chain = await aChain(aStore(), newIssue(), 2);
    const { body } = await api("GET", `${REPO}/git/trees/${await tipOf(branchOf(issue))}?recursive=1`);
    const files = body.tree.filter((entry: { type: string }) => entry.type === "blob");
    const folder = `.claude/crunch/${issue}/checkpoints`;
    expect(
      new Set(files.map((entry: { mode: string; path: string }) => `${entry.mode} ${entry.path}`)),
    ).toEqual(
      new Set([
        ...chain.map(({ checkpoint_id }) => `100644 ${folder}/${checkpoint_id}.yaml`),
        `100644 ${folder}/index.yaml`,
        `120000 ${folder}/latest`,
      ]),
    );
    const link = files.find((entry: { path: string }) => entry.path === `${folder}/latest`);
    const blob = await api("GET", `${REPO}/git/blobs/${link.sha}`);
    const target = Buffer.from(blob.body.content, "base64").toString();
    expect(target).toBe(`${last(chain).checkpoint_id}.yaml`);
  });

  it.each([
    ["the file's name", (id: string) => `${id}.yaml`],
    ["the file's name and a line break", (id: string) => `${id}.yaml\n`],
    ["the id", (id: string) => id],
  ])("is read too where `latest` is a plain file with %s", async (_, text) => {
    const [first] = await aChain(aStore(), newIssue(), 1);
    const base = await tipOf(branchOf(issue));
    const path = `.claude/crunch/${issue}/checkpoints/latest`;
    const content = text(first?.checkpoint_id ?? "");
    const tree = await api("POST", `${REPO}/git/trees`, {
      base_tree: base,
      tree: [{ path, mode: "100644", type: "blob", content }],
    });
    const made = { message: "plain", tree: tree.body.sha, parents: [base] };
    await moveByHand(branchOf(issue), (await api("POST", `${REPO}/git/commits`, made)).body.sha);
    const store = aStore();
    expect(await store.latest(issue)).toEqual(first);
    expect((await put(store, aNext(first ?? aFirst(issue)))).status).toBe("stored");
  });

  it("keeps the code's commit as second parent, also at the beginning of a chain", async () => {
    const store = aStore();
    const first = aFirst(newIssue());
    const code = await tipOf("main");
    await store.put(first, { expectedLatest: null, codeCommit: code });
    const second = aNext(first);
    await store.put(second, { expectedLatest: first.checkpoint_id, codeCommit: code });
    const [tip, root] = await commitsOf(branchOf(issue));
    expect(tip?.parents).toEqual([root?.sha, code]);
    expect(root?.parents).toEqual([code]);
  });

  it("says in every commit to skip CI, and something that no other says", async () => {
    await aChain(aStore(), newIssue(), 4);
    const messages = (await commitsOf(branchOf(issue))).map(({ message }) => message);
    for (const message of messages) expect(message.split("\n")[0]).toMatch(/\[skip ci\]$/);
    const nonces = messages.map((message) => /^Nonce: ([0-9a-f]{16})$/m.exec(message)?.[1]);
    expect(nonces).not.toContain(undefined);
    expect(new Set(nonces).size).toBe(4);
  });

  it("an issue's branch is told from others that begin like it", async () => {
    const template = "alike/issue-{issue}/state";
    const store = aStore(template);
    await put(store, aFirst(newIssue()));
    const sha = await tipOf("main");
    for (const name of [
      "alike/issue-7",
      "alike/issue-x/state",
      "alike/issue-08/state",
      "alike/issue-9/states",
    ])
      await api("POST", `${REPO}/git/refs`, { ref: `refs/heads/${name}`, sha });
    expect(await store.issues()).toEqual([issue]);
  });
});

const effects: [string, FaultEffect][] = [
  ["fails with 500", { kind: "status", status: 500 }],
  ["fails with 502", { kind: "status", status: 502 }],
  ["is cut off", { kind: "reset" }],
  ["is applied but the answer is lost", { kind: "lost" }],
  ["is applied but answered with 502", { kind: "lost-status", status: 502 }],
];

/** The checkpoint is there once, the chain is whole, and the next one goes on from it. */
async function expectStoredOnce(store: ReturnType<typeof aStore>, chain: readonly Checkpoint[]) {
  const ids = (await commitsOf(branchOf(issue))).map(({ message }) => /Checkpoint: (.+)/.exec(message)?.[1]);
  expect(ids).toEqual(chain.map(({ checkpoint_id }) => checkpoint_id).reverse());
  const other = aStore();
  expect((await expectWhole(other, issue)).index).toEqual(chain.map(indexEntryOf));
  expect(await other.latest(issue)).toEqual(last(chain));
  const next = aNext(last(chain));
  expect((await put(store, next)).status).toBe("stored");
  expect(await other.latest(issue)).toEqual(next);
}

describe.each(effects)("when a write %s", (_, effect) => {
  it.each(["trees", "commits", "refs", "blobs"])(
    "POST %s: the first checkpoint is there once",
    async (what) => {
      const store = aStore();
      const first = aFirst(newIssue());
      gh.faults.add({ match: { method: "POST", path: new RegExp(`/git/${what}$`) }, effect });
      const content = Buffer.of(0, 255);
      const result = await put(store, first, [{ path: "a.bin", mode: "100644", status: "added", content }]);
      expect(result).toEqual({ status: "stored", commit: await tipOf(branchOf(issue)) });
      expect(await aStore().readFile(issue, "a.bin")).toEqual(content);
      await expectStoredOnce(store, [first]);
    },
  );

  it("PATCH refs: the next checkpoint is there once", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 2);
    gh.faults.add({ match: { method: "PATCH", path: /\/git\/refs\// }, effect });
    const next = aNext(last(chain));
    expect((await put(store, next)).status).toBe("stored");
    await expectStoredOnce(store, [...chain, next]);
  });

  it("PATCH refs, twice in a row: the next checkpoint is there once", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 1);
    gh.faults.add({ match: { method: "PATCH", path: /\/git\/refs\// }, times: 2, effect });
    const next = aNext(last(chain));
    expect((await put(store, next)).status).toBe("stored");
    await expectStoredOnce(store, [...chain, next]);
  });
});

describe.each(effects)("when any one request %s", (_, effect) => {
  it("a put that does everything is there once, or not at all and can be made again", async () => {
    let struck = true;
    for (let nth = 1; struck; nth++) {
      const before = aStore();
      const chain = await aChain(before, newIssue(), 1);
      for (const trigger of ["agent_complete", "manual"] as const) {
        chain.push(aNext(last(chain), { trigger }));
        await put(before, last(chain));
      }
      const next = aNext(last(chain), { trigger: "agent_complete" });
      const files = [{ path: "a.bin", mode: "100644", status: "added", content: Buffer.of(0, 255) } as const];
      const store = aStore();
      const again = () => put(store, next, files, { retention: defaultRetention });
      gh.faults.add({ match: {}, nth, effect });
      const requests = await requestsDuring(async () => {
        const result = await again().catch(() => null);
        gh.faults.clear();
        if (result?.status !== "stored") expect((await again()).status, `request ${nth}`).toBe("stored");
      });
      struck = requests.length >= nth;
      const { index } = await expectWhole(aStore(), issue);
      expect(index.map(({ removed_at }) => removed_at !== undefined)).toEqual([false, true, false, false]);
      expect(await aStore().readFile(issue, "a.bin")).toEqual(Buffer.of(0, 255));
      const ids = (await commitsOf(branchOf(issue))).map(
        ({ message }) => /Checkpoint: (.+)/.exec(message)?.[1],
      );
      expect(ids).toEqual([...chain, next].map(({ checkpoint_id }) => checkpoint_id).reverse());
    }
  });
});

describe("what retention takes away", () => {
  it("goes in the same commit, for no more requests", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 1);
    for (let more = 0; more < 3; more++) {
      chain.push(aNext(last(chain), { trigger: "agent_complete" }));
      const requests = await requestsDuring(() =>
        put(store, last(chain), [], { retention: defaultRetention }),
      );
      expect(requests).toHaveLength(3);
    }
    expect(await commitsOf(branchOf(issue))).toHaveLength(4);
    expect(await aStore().list(issue)).toHaveLength(3);
  });

  it("may have been deleted by hand before", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 1);
    for (const trigger of ["agent_complete", "manual"] as const) {
      chain.push(aNext(last(chain), { trigger }));
      await put(store, last(chain));
    }
    gh.faults.add({
      match: { method: "POST", path: /\/git\/trees$/ },
      effect: { kind: "status", status: 422, body: { message: "GitRPC::BadObjectState" } },
    });
    const next = aNext(last(chain), { trigger: "agent_complete" });
    expect((await put(store, next, [], { retention: defaultRetention })).status).toBe("stored");
    await expectWhole(aStore(), issue);
  });
});

describe("when the ref can't be moved", () => {
  it("an outage that lasts is an error, and the chain is as before", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 1);
    const end = gh.faults.add({
      ...{ match: { method: "PATCH", path: /\/git\/refs\// }, times: 99 },
      effect: { kind: "status", status: 503 },
    });
    await expect(put(store, aNext(last(chain)))).rejects.toThrow();
    end();
    await expectStoredOnce(store, chain);
  });

  it("a lost answer is no loss when somebody has built on the commit by then", async () => {
    const [slow, quick] = [aStore(), aStore()];
    const chain = await aChain(slow, newIssue(), 1);
    const mine = aNext(last(chain));
    const theirs = aNext(mine);
    gh.faults.add({ match: { method: "PATCH", path: /\/git\/refs\// }, effect: { kind: "lost" } });
    // The look at the ref comes late, when the other has been there.
    gh.faults.add({ match: { method: "GET", path: /\/git\/ref\// }, effect: { kind: "delay", ms: 600 } });
    const putting = put(slow, mine);
    while ((await quick.latest(issue))?.checkpoint_id !== mine.checkpoint_id);
    expect((await put(quick, theirs)).status).toBe("stored");
    expect((await putting).status).toBe("stored");
    expect(await put(slow, aNext(mine))).toEqual({ status: "conflict", latest: theirs });
    await expectStoredOnce(slow, [...chain, mine, theirs]);
  });

  it("an outage during which another one wins is a conflict", async () => {
    const [store, other] = [aStore(), aStore()];
    const chain = await aChain(store, newIssue(), 1);
    const theirs = aNext(last(chain));
    gh.faults.add({
      match: { method: "PATCH", path: /\/git\/refs\// },
      effect: { kind: "status", status: 500 },
    });
    gh.faults.add({ match: { method: "GET", path: /\/git\/ref\// }, effect: { kind: "delay", ms: 600 } });
    const failed = new Promise<void>((resolve) => {
      const end = gh.requests.subscribe(({ status }) => {
        if (status !== 500) return;
        end();
        resolve();
      });
    });
    const putting = put(store, aNext(last(chain)));
    await failed;
    expect((await put(other, theirs)).status).toBe("stored");
    expect(await putting).toEqual({ status: "conflict", latest: theirs });
  });

  it("a lost race is a conflict with the winner's checkpoint", async () => {
    const [store, other] = [aStore(), aStore()];
    const chain = await aChain(store, newIssue(), 1);
    const theirs = aNext(last(chain));
    await put(other, theirs);
    const requests = await requestsDuring(async () => {
      expect(await put(store, aNext(last(chain)))).toEqual({ status: "conflict", latest: theirs });
    });
    expect(requests).toContain("PATCH refs/:ref*");
  });

  it("a rule of the repo that forbids it is told as such, and not tried for ever", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 1);
    gh.faults.add({
      match: { method: "PATCH", path: /\/git\/refs\// },
      times: 99,
      effect: { kind: "status", status: 422, body: { message: "Repository rule violations found" } },
    });
    const refused = put(store, aNext(last(chain)));
    await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "storage_branch_refused" });
  });

  it("a name that GitHub does not take is an error", async () => {
    gh.faults.add({
      match: { method: "POST", path: /\/git\/refs$/ },
      times: 99,
      effect: { kind: "status", status: 422, body: { message: "Reference name is not well-formed" } },
    });
    await expect(put(aStore(), aFirst(newIssue()))).rejects.toThrow(/well-formed/);
  });

  it("a token that may not write is an error at once", async () => {
    const octokit = createClient({ baseUrl: gh.url, token: "ghp_unknown", sleep: async () => {} });
    const store = createGitHubStore(
      { octokit, owner: "octo", repo: "demo", defaultBranch: "main" },
      "x-{issue}",
    );
    await expect(put(store, aFirst(newIssue()))).rejects.toMatchObject({ status: 401 });
  });
});

describe("when people touch the branch", () => {
  it("moved back by hand after a look: a conflict, and nothing is overwritten", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 3);
    const [, , root] = await commitsOf(branchOf(issue));
    await moveByHand(branchOf(issue), root?.sha ?? "");
    expect(await store.latest(issue)).toEqual(chain[0]);
    expect(await put(store, aNext(last(chain)))).toEqual({ status: "conflict", latest: chain[0] });
    expect(await tipOf(branchOf(issue))).toBe(root?.sha);
  });

  it("moved back by hand during a long agent's run: a conflict, and nothing is overwritten", async () => {
    let now = 0;
    const store = aStore(undefined, () => now);
    const chain = await aChain(store, newIssue(), 3);
    const [, , root] = await commitsOf(branchOf(issue));
    await moveByHand(branchOf(issue), root?.sha ?? "");
    now += 60_000;
    expect(await put(store, aNext(last(chain)))).toEqual({ status: "conflict", latest: chain[0] });
    expect(await tipOf(branchOf(issue))).toBe(root?.sha);
  });

  it("after a long agent's run an unmoved branch costs one request more", async () => {
    let now = 0;
    const store = aStore(undefined, () => now);
    const chain = await aChain(store, newIssue(), 2);
    now += 60_000;
    expect(await requestsDuring(() => put(store, aNext(last(chain))))).toHaveLength(4);
  });

  it("moved aside by hand: a conflict, and nothing is overwritten", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 2);
    const [tip, root] = await commitsOf(branchOf(issue));
    const { body } = await api("GET", `${REPO}/git/commits/${root?.sha}`);
    const made = { message: "aside", tree: body.tree.sha, parents: [root?.sha] };
    const aside = (await api("POST", `${REPO}/git/commits`, made)).body.sha;
    await moveByHand(branchOf(issue), aside);
    expect(aside).not.toBe(tip?.sha);
    expect(await put(store, aNext(last(chain)))).toEqual({ status: "conflict", latest: chain[0] });
    expect(await tipOf(branchOf(issue))).toBe(aside);
  });

  it("deleted: a conflict, and the branch does not come back", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 2);
    await api("DELETE", `${REPO}/git/refs/heads/${branchOf(issue)}`);
    expect(await put(store, aNext(last(chain)))).toEqual({ status: "conflict", latest: null });
    expect((await api("GET", `${REPO}/git/ref/heads/${branchOf(issue)}`)).status).toBe(404);
  });

  it("a commit on top that leaves the chain alone is built upon", async () => {
    const store = aStore();
    const chain = await aChain(store, newIssue(), 1);
    const base = await tipOf(branchOf(issue));
    const entry = { path: "README.md", mode: "100644", type: "blob", content: "State of Crunch\n" };
    const tree = await api("POST", `${REPO}/git/trees`, { base_tree: base, tree: [entry] });
    const made = { message: "docs", tree: tree.body.sha, parents: [base] };
    await moveByHand(branchOf(issue), (await api("POST", `${REPO}/git/commits`, made)).body.sha);
    expect((await put(store, aNext(last(chain)))).status).toBe("stored");
    expect((await api("GET", `${REPO}/contents/README.md?ref=${branchOf(issue)}`)).status).toBe(200);
  });
});

describe("a branch that issues share", () => {
  it("lets issues that race in, each with all of its files", async () => {
    const numbers = Array.from({ length: 5 }, newIssue);
    const stores = numbers.map(() => aStore("shared-race"));
    const chains = await Promise.all(numbers.map((number, at) => aChain(stores[at] ?? aStore(), number, 4)));
    const other = aStore("shared-race");
    for (const chain of chains)
      expect(await other.list(last(chain).issue_number)).toEqual(chain.map(indexEntryOf));
    expect(await other.issues()).toEqual(numbers);
    expect(await commitsOf("shared-race")).toHaveLength(20);
  });

  it("does not take other folders for issues", async () => {
    const store = aStore("shared-folders");
    await put(store, aFirst(newIssue()));
    const base = await tipOf("shared-folders");
    const paths = [".claude/crunch/notes/a", ".claude/crunch/007/a", ".claude/crunch/8", ".claude/9/a"];
    const tree = paths.map((path) => ({ path, mode: "100644", type: "blob", content: "x" }));
    const made = await api("POST", `${REPO}/git/trees`, { base_tree: base, tree });
    const commit = { message: "more", tree: made.body.sha, parents: [base] };
    await moveByHand("shared-folders", (await api("POST", `${REPO}/git/commits`, commit)).body.sha);
    expect(await store.issues()).toEqual([issue]);
  });

  it("may hold code of its own, without any chain yet", async () => {
    expect(await aStore("main").issues()).toEqual([]);
    expect(await aStore("main").latest(newIssue())).toBeNull();
  });
});

describe("rate limits", () => {
  it.each(["POST", "PATCH"])(
    "Retry-After on a %s is obeyed, and the checkpoint is there once",
    async (method) => {
      const store = aStore();
      const chain = await aChain(store, newIssue(), 1);
      gh.faults.add({
        match: { method, path: /\/git\// },
        times: 2,
        effect: {
          ...{ kind: "status", status: 403, headers: { "retry-after": "7" } },
          body: { message: "You have exceeded a secondary rate limit." },
        },
      });
      const next = aNext(last(chain));
      expect((await put(store, next)).status).toBe("stored");
      expect(waits).toEqual([7_000, 7_000]);
      await expectStoredOnce(store, [...chain, next]);
    },
  );
});
