import { createHash } from "node:crypto";
import { chmod, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { checkedOut, createLocalCodeHost } from "../../../src/adapters/local/code-host.js";
import { openLocalGit } from "../../../src/adapters/local/git.js";
import type { FileChange } from "../../../src/ports.js";
import { added, belongings, deleted, useCheckout, writeFiles } from "./checkout.js";

const checkout = useCheckout();

async function open() {
  const git = await openLocalGit(checkout.root);
  return createLocalCodeHost(git, { defaultBranch: await checkedOut(git) });
}

/** A first commit, and a person in the middle of something: staged, changed, new, deleted. */
async function busyCheckout() {
  await checkout.write({ "README.md": "hello\n", "src/a.ts": "a\n", "src/b.ts": "b\n", "old/x.ts": "x\n" });
  const base = checkout.commitAll();
  await checkout.write({ "README.md": "staged\n" });
  checkout.git("add", "README.md");
  await checkout.write({ "README.md": "changed\n", "new.txt": "new\n" });
  await rm(join(checkout.root, "src/b.ts"));
  return base;
}

async function prepare(changes: readonly FileChange[], parentSha: string, message = "work") {
  const code = await open();
  return code.prepareCommit({ parent: await code.commit(parentSha), changes, message });
}

describe("a commit", () => {
  it("has the changes and all else of its parent, and touches nothing of the person's", async () => {
    const base = await busyCheckout();
    const before = belongings(checkout.root);
    const binary = Buffer.from([0, 255, 13, 10, 0]);
    const changes = [
      added("bin/run.sh", "#!/bin/sh\r\n", "100755"),
      added("bin/data", binary),
      added("link", "src/a.ts", "120000"),
      { ...added("src/a.ts", "A\n"), status: "modified" as const },
      deleted("src/b.ts"),
      added('tricky "name"\n\tü', "t"),
    ];
    const { sha, tree } = await prepare(changes, base, "implementing: fix\n\nwith ü");
    const listed = checkout.git("ls-tree", "-r", "-z", sha).split("\0").filter(Boolean);
    expect(
      listed.map((line) => `${line.slice(0, 6)} ${line.split("\t").slice(1).join("\t")}`).sort(),
    ).toEqual([
      "100644 README.md",
      "100644 bin/data",
      "100644 old/x.ts",
      "100644 src/a.ts",
      '100644 tricky "name"\n\tü',
      "100755 bin/run.sh",
      "120000 link",
    ]);
    expect(checkout.git("show", `${sha}:bin/run.sh`)).toBe("#!/bin/sh\r");
    expect(checkout.git("rev-parse", `${sha}:bin/data`)).toBe(blobOf(binary));
    expect(checkout.git("show", "-s", "--format=%T %P %an <%ae> %cn|%B", sha)).toBe(
      `${tree} ${base} Ana <ana@example.test> Ana|implementing: fix\n\nwith ü\n`,
    );
    expect(belongings(checkout.root)).toEqual(before);
  });

  it("can put a folder in the place of a file, and a file in that of a folder", async () => {
    const base = await busyCheckout();
    const changes = [
      added("README.md/inner", "1"),
      deleted("README.md"),
      added("old", "2"),
      deleted("old/x.ts"),
    ];
    const { sha } = await prepare(changes, base);
    const names = checkout.git("ls-tree", "-r", "--name-only", sha).split("\n");
    expect(names).toEqual(["README.md/inner", "old", "src/a.ts", "src/b.ts"]);
  });

  it("keeps submodules, and runs neither hooks nor filters of the repository", async () => {
    await checkout.write({ ".gitattributes": "* filter=shout text\n", "a.txt": "a\n" });
    const inner = checkout.commitAll();
    checkout.git("update-index", "--add", "--cacheinfo", `160000,${inner},module`);
    checkout.git("commit", "--quiet", "--message", "with a submodule");
    const ran = join(checkout.temp, "ran");
    const hook = `#!/bin/sh\ntouch "${ran}"\n`;
    await writeFiles(join(checkout.root, ".git/hooks"), {
      "reference-transaction": hook,
      "post-index-change": hook,
    });
    await chmod(join(checkout.root, ".git/hooks/reference-transaction"), 0o755);
    await chmod(join(checkout.root, ".git/hooks/post-index-change"), 0o755);
    checkout.git("config", "filter.shout.clean", `touch "${ran}"; tr a-z A-Z`);
    checkout.git("config", "core.fsmonitor", `touch "${ran}"; false`);
    checkout.git("config", "core.splitIndex", "true");
    checkout.git("config", "core.autocrlf", "true");
    await rm(ran, { force: true });
    const before = belongings(checkout.root);
    const { sha } = await prepare([added("b.txt", "b\r\n")], checkout.git("rev-parse", "main"));
    expect(await (await open()).moveBranch("feature/x", sha, null)).toBe("moved");
    expect(belongings(checkout.root)).toEqual(before);
    expect(checkout.git("-c", "core.hooksPath=/dev/null", "ls-tree", sha, "module")).toContain(
      `160000 commit ${inner}`,
    );
    expect(checkout.git("cat-file", "-p", `${sha}:b.txt`)).toBe("b\r");
    await expect(rm(ran)).rejects.toThrow("ENOENT");
  });

  it("refuses a path that git would silently leave out", async () => {
    const base = await busyCheckout();
    for (const path of [".git/config", "a/../b", ".GIT/x", "/etc/x"]) {
      await expect(prepare([added(path, "x"), added("ok", "x")], base)).rejects.toMatchObject({
        code: "path_refused",
      });
    }
  });

  it("is Crunch's own where nobody is configured", async () => {
    const base = await busyCheckout();
    checkout.git("config", "--unset", "user.email");
    const { sha } = await prepare([added("x", "x")], base);
    expect(checkout.git("show", "-s", "--format=%an <%ae>", sha)).toBe("crunch <crunch@localhost>");
  });

  it("of a restore has another commit's files on top of the branch", async () => {
    const base = await busyCheckout();
    const { sha } = await prepare([added("x", "x")], base);
    const restored = await (await open()).prepareRestore({ parent: sha, filesOf: base, message: "back" });
    expect(checkout.git("show", "-s", "--format=%T %P", restored.sha)).toBe(
      `${checkout.git("rev-parse", `${base}^{tree}`)} ${sha}`,
    );
  });
});

describe("the heads", () => {
  it("are known by their exact name; a folder of branches is none", async () => {
    const base = await busyCheckout();
    checkout.git("branch", "feature/one");
    const code = await open();
    const found = { sha: base, tree: checkout.git("rev-parse", "main^{tree}") };
    expect([await code.head("main"), await code.head("feature/one")]).toEqual([found, found]);
    expect([await code.head("feature"), await code.head("none"), await code.head(base)]).toEqual([
      null,
      null,
      null,
    ]);
    expect(await code.commit(base)).toEqual(found);
    await expect(code.commit("1".repeat(40))).rejects.toMatchObject({ code: "commit_missing" });
    await expect(code.commit("--all")).rejects.toMatchObject({ code: "commit_missing" });
  });

  it("include the commit where no branch is checked out", async () => {
    const base = await busyCheckout();
    checkout.git("switch", "--quiet", "--detach");
    const code = await open();
    expect(code.defaultBranch).toBe(base);
    expect((await code.head(base))?.sha).toBe(base);
  });

  it("are missing in a checkout without a commit, which is told", async () => {
    await expect(open()).rejects.toMatchObject({
      code: "no_commit",
      hint: expect.stringContaining("git commit"),
    });
    await expect(openLocalGit(checkout.temp)).rejects.toMatchObject({ code: "no_checkout" });
  });

  it("are found from a folder within, and whatever GIT_DIR says around Crunch", async () => {
    const base = await busyCheckout();
    vi.stubEnv("GIT_DIR", "/nowhere");
    vi.stubEnv("GIT_INDEX_FILE", "/nowhere/index");
    const git = await openLocalGit(join(checkout.root, "src"));
    expect(git.root).toBe(checkout.root);
    expect((await createLocalCodeHost(git, { defaultBranch: "main" }).head("main"))?.sha).toBe(base);
  });
});

it("what differs between two commits comes with patches", async () => {
  const long = "1\n2\n3\n4\n5\n6\n";
  await checkout.write({
    "a.txt": "a\nb\n",
    "moved.txt": long,
    "gone.txt": "g\n",
    "kind.txt": "k\n",
    bin: "x",
  });
  const from = checkout.commitAll();
  checkout.git("mv", "moved.txt", "renamed.txt");
  checkout.git("rm", "--quiet", "gone.txt", "kind.txt");
  await symlink("a.txt", join(checkout.root, "kind.txt"));
  await checkout.write({ "a.txt": "a\ndiff --git\n", "new ü.txt": "n\n", bin: Buffer.from([0, 1, 2]) });
  const to = checkout.commitAll();
  const code = await open();
  expect(await code.changesBetween(from, to)).toEqual([
    { path: "a.txt", status: "modified", patch: "@@ -1,2 +1,2 @@\n a\n-b\n+diff --git" },
    { path: "bin", status: "modified", patch: null },
    { path: "gone.txt", status: "deleted", patch: "@@ -1 +0,0 @@\n-g" },
    {
      path: "kind.txt",
      status: "modified",
      patch: "@@ -1 +0,0 @@\n-k\n@@ -0,0 +1 @@\n+a.txt\n\\ No newline at end of file",
    },
    { path: "new ü.txt", status: "added", patch: "@@ -0,0 +1 @@\n+n" },
    { path: "renamed.txt", status: "renamed", patch: null },
  ]);
  expect(await code.changesBetween(from, from)).toEqual([]);
  expect(await code.openPullRequest({ branch: "x", base: "main", title: "t", body: "" })).toBeNull();
});

function blobOf(content: Buffer): string {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}
