import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Octokit } from "@octokit/rest";
import { describe, expect, it } from "vitest";
import { as, asOwner, branch, commit, github, REPO } from "./world.js";

describe("git data", () => {
  it("takes inline content, symlinks, deletions and a base tree", async () => {
    const gh = await github({ files: { "README.md": "# Demo\n", "dir/deep/old": "x" } });
    const api = asOwner(gh);
    const main = (await api("GET", `${REPO}/commits/main`)).body;
    const tree = await api("POST", `${REPO}/git/trees`, {
      base_tree: main.sha,
      tree: [
        { path: "cp/CP-1.yaml", mode: "100644", content: "id: CP-1\n" },
        { path: "cp/latest", mode: "120000", content: "CP-1.yaml" },
        { path: "dir/deep/old", mode: "100644", sha: null },
      ],
    });
    expect(tree.status).toBe(201);
    const made = await api("POST", `${REPO}/git/commits`, {
      message: "m",
      tree: tree.body.sha,
      parents: [main.sha],
    });
    await api("PATCH", `${REPO}/git/refs/heads/main`, { sha: made.body.sha });
    const all = (await api("GET", `${REPO}/git/trees/main?recursive=1`)).body.tree;
    expect(all.map((one: { path: string; mode: string }) => `${one.mode} ${one.path}`)).toEqual([
      "040000 cp",
      "100644 cp/CP-1.yaml",
      "120000 cp/latest",
      "100644 README.md",
    ]);
    const link = await api("GET", `${REPO}/contents/cp/latest?ref=main`);
    expect(Buffer.from(link.body.content, "base64").toString()).toBe("id: CP-1\n");
    const raw = { accept: "application/vnd.github.raw" };
    expect((await api("GET", `${REPO}/contents/cp/latest`, undefined, raw)).body).toBe("id: CP-1\n");
    expect((await api("GET", `${REPO}/contents/README.md`, undefined, raw)).body).toBe("# Demo\n");
    expect((await api("GET", `${REPO}/contents/cp/none`)).status).toBe(404);
  });

  it("keeps several parents in order, and takes an orphan on a new branch", async () => {
    const gh = await github();
    const api = asOwner(gh);
    const one = await commit(api, { a: "1" });
    const two = await commit(api, { a: "2" });
    const tree = (await api("GET", `${REPO}/git/commits/${one}`)).body.tree.sha;
    const merge = await api("POST", `${REPO}/git/commits`, { message: "m", tree, parents: [two, one] });
    expect(merge.body.parents.map((parent: { sha: string }) => parent.sha)).toEqual([two, one]);
    const orphan = await api("POST", `${REPO}/git/commits`, { message: "o", tree });
    expect(orphan.body.parents).toEqual([]);
    const ref = { ref: "refs/heads/crunch/issue-7", sha: orphan.body.sha };
    expect((await api("POST", `${REPO}/git/refs`, ref)).status).toBe(201);
    const again = await api("POST", `${REPO}/git/refs`, ref);
    expect([again.status, again.body.message]).toEqual([422, "Reference already exists"]);
  });

  it("moves a branch for exactly one of two racers", async () => {
    const gh = await github();
    const api = asOwner(gh);
    const racers = await Promise.all(
      ["1", "2"].map((content) => commit(api, { a: content }, "main", content)),
    );
    const results = await Promise.all(
      racers.map((sha) => api("PATCH", `${REPO}/git/refs/heads/main`, { sha, force: false })),
    );
    expect(results.map((one) => one.status).sort()).toEqual([200, 422]);
    const winner = racers[results.findIndex((one) => one.status === 200)];
    expect(results.find((one) => one.status === 422)?.body.message).toBe("Update is not a fast forward");
    expect((await api("GET", `${REPO}/git/ref/heads/main`)).body.object.sha).toBe(winner);
    const missing = await api("PATCH", `${REPO}/git/refs/heads/none`, { sha: winner });
    expect([missing.status, missing.body.message]).toEqual([422, "Reference does not exist"]);
  });

  it("finds branches with slashes, plain and as Octokit writes them", async () => {
    const gh = await github();
    const api = asOwner(gh);
    const sha = await branch(api, "crunch/issue-7", { a: "1" });
    await branch(api, "crunch/issue-8", { a: "2" });
    const found = (await api("GET", `${REPO}/commits/crunch/issue-7`)).body;
    expect([found.sha, typeof found.commit.tree.sha]).toEqual([sha, "string"]);
    const missing = await api("GET", `${REPO}/commits/crunch/none`);
    expect([missing.status, missing.body.message]).toEqual([422, "No commit found for SHA: crunch/none"]);
    const refs = (await api("GET", `${REPO}/git/matching-refs/heads/crunch/issue-`)).body;
    expect(refs.map((one: { ref: string }) => one.ref)).toEqual([
      "refs/heads/crunch/issue-7",
      "refs/heads/crunch/issue-8",
    ]);
    const octokit = new Octokit({ baseUrl: gh.url, auth: gh.tokenFor("octo") });
    const at = { owner: "octo", repo: "demo" };
    expect((await octokit.rest.git.getRef({ ...at, ref: "heads/crunch/issue-7" })).data.object.sha).toBe(sha);
    expect((await octokit.rest.repos.getCommit({ ...at, ref: "crunch/issue-7" })).data.sha).toBe(sha);
    const next = await commit(api, { a: "3" }, "crunch/issue-7");
    await octokit.rest.git.updateRef({ ...at, ref: "heads/crunch/issue-7", sha: next, force: false });
    const file = await octokit.rest.repos.getContent({ ...at, path: "a", ref: "crunch/issue-7" });
    expect(file.data).toMatchObject({ content: Buffer.from("3").toString("base64") });
  });

  it("names objects as git does", async () => {
    const gh = await github();
    const api = asOwner(gh);
    const who = { name: "A", email: "a@example.org", date: "2025-01-02T03:04:05Z" };
    const tree = await api("POST", `${REPO}/git/trees`, {
      tree: [
        { path: "b/c", mode: "100755", content: "x\n" },
        { path: "b.txt", mode: "100644", content: "y\n" },
      ],
    });
    const body = { message: "m\n", tree: tree.body.sha, parents: [], author: who, committer: who };
    const ours = (await api("POST", `${REPO}/git/commits`, body)).body.sha;
    const folder = mkdtempSync(join(tmpdir(), "git-"));
    try {
      const env = {
        ...process.env,
        GIT_AUTHOR_NAME: who.name,
        GIT_AUTHOR_EMAIL: who.email,
        GIT_AUTHOR_DATE: who.date,
        GIT_COMMITTER_NAME: who.name,
        GIT_COMMITTER_EMAIL: who.email,
        GIT_COMMITTER_DATE: who.date,
      };
      const run = (script: string) =>
        execFileSync("sh", ["-ec", script], { cwd: folder, env }).toString().trim();
      run(
        "git init -q . && mkdir b && printf 'x\\n' > b/c && chmod +x b/c && printf 'y\\n' > b.txt && git add -A",
      );
      run("git -c commit.gpgsign=false commit -q -m m");
      expect(ours).toBe(run("git rev-parse HEAD"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("lists large trees whole", async () => {
    const files = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`d${i % 20}/f${i}`, `${i}`]));
    const gh = await github({ files });
    const { body } = await asOwner(gh)("GET", `${REPO}/git/trees/main?recursive=1`);
    expect(body.tree.filter((one: { type: string }) => one.type === "blob")).toHaveLength(500);
  });
});

describe("the tarball", () => {
  it("holds one folder with modes, symlinks, long paths and bytes as they are", async () => {
    const binary = Buffer.from([0, 1, 2, 255, 254, 10, 13]);
    const long = `${"long-folder-name/".repeat(8)}${"ä".repeat(60)}.txt`;
    const gh = await github({
      files: {
        "README.md": "# Demo\n",
        "bin/run.sh": { content: "#!/bin/sh\n", mode: "100755" },
        "data.bin": { content: binary, mode: "100644" },
        "link.md": { content: "README.md", mode: "120000" },
        [long]: "deep\n",
      },
    });
    const api = asOwner(gh);
    const sha = await branch(api, "feature/a/b", { added: "1" });
    expect((await as(gh, null)("GET", `${REPO}/tarball/main`)).status).toBe(401);
    expect((await api("GET", `${REPO}/tarball/none`)).status).toBe(404);
    for (const ref of ["feature/a/b", sha]) {
      const redirect = await api("GET", `${REPO}/tarball/${ref}`);
      expect(redirect.status).toBe(302);
      const archive = await fetch(redirect.headers.get("location") ?? "");
      const folder = mkdtempSync(join(tmpdir(), "tar-"));
      try {
        writeFileSync(join(folder, "a.tgz"), Buffer.from(await archive.arrayBuffer()));
        execFileSync("tar", ["xzf", "a.tgz"], { cwd: folder });
        const top = join(folder, `octo-demo-${sha.slice(0, 7)}`);
        expect(readFileSync(join(top, "added"), "utf8")).toBe("1");
        expect(readFileSync(join(top, "data.bin"))).toEqual(binary);
        expect(readFileSync(join(top, long), "utf8")).toBe("deep\n");
        expect(readlinkSync(join(top, "link.md"))).toBe("README.md");
        expect(statSync(join(top, "bin/run.sh")).mode & 0o100).toBe(0o100);
        expect(statSync(join(top, "README.md")).mode & 0o100).toBe(0);
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
  });
});
