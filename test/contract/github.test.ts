import { afterAll, beforeAll, describe } from "vitest";
import { createGitHubStore } from "../../src/adapters/github/checkpoint-store.js";
import { createClient } from "../../src/adapters/github/client.js";
import { createLayout } from "../../src/checkpoint/layout.js";
import { defaultStorage, type StorageOptions } from "../../src/checkpoint/storage-options.js";
import { type EmbeddedGitHub, startEmbeddedGitHub } from "../../src/embedded-github/index.js";
import { describeCheckpointStore } from "./checkpoint-store.js";
import type { OpenStore } from "./open-store.js";

let gh: EmbeddedGitHub;
let opened = 0;

const names = { owner: "octo", repo: "demo" };

/** A fresh name for every test, so that one GitHub serves them all. */
async function open(template: string, options: Partial<StorageOptions> = {}): Promise<OpenStore> {
  const branchTemplate = template.replace("crunch", `crunch-${++opened}`);
  const octokit = createClient({ baseUrl: gh.url, token: gh.actionsToken, sleep: async () => {} });
  const storage = { ...defaultStorage, ...options };
  const issueFolder = storage.layout.folder;
  const reopen = (changes: Partial<StorageOptions> = {}) => {
    const repository = { ...names, octokit, defaultBranch: "main" };
    return createGitHubStore(repository, branchTemplate, { storage: { ...storage, ...changes } });
  };
  const branchOf = (issue: number) => branchTemplate.replace("{issue}", String(issue));

  async function entry(issue: number, path: string) {
    const tree_sha = (await octokit.git.getRef({ ...names, ref: `heads/${branchOf(issue)}` })).data.object
      .sha;
    const { data } = await octokit.git.getTree({ ...names, tree_sha, recursive: "1" });
    return data.tree.find((one) => one.path === `${issueFolder(issue)}/${path}`);
  }

  return {
    store: reopen(),
    storage,
    reopen,
    longHistory: 60,
    close: async () => {},
    operations: () => gh.requests.count(),
    mode: async (issue, path) => (await entry(issue, path))?.mode ?? null,
    async read(issue, path) {
      const found = await entry(issue, path);
      if (!found?.sha) return null;
      const { data } = await octokit.git.getBlob({ ...names, file_sha: found.sha });
      return Buffer.from(data.content, "base64");
    },
    async corrupt(issue, path, bytes) {
      const ref = `heads/${branchOf(issue)}`;
      const parent = (await octokit.git.getRef({ ...names, ref })).data.object.sha;
      const content = bytes.toString("base64");
      const blob = await octokit.git.createBlob({ ...names, content, encoding: "base64" });
      const tree = await octokit.git.createTree({
        ...names,
        base_tree: (await octokit.git.getCommit({ ...names, commit_sha: parent })).data.tree.sha,
        tree: [{ path: `${issueFolder(issue)}/${path}`, mode: "100644", type: "blob", sha: blob.data.sha }],
      });
      const made = { message: "By hand", tree: tree.data.sha, parents: [parent] };
      const commit = await octokit.git.createCommit({ ...names, ...made });
      await octokit.git.updateRef({ ...names, ref, sha: commit.data.sha });
    },
  };
}

/** Each with a GitHub of its own, because a token has 5,000 requests there. */
function describeOnGitHub(name: string, template: string, options?: Partial<StorageOptions>): void {
  describe("on GitHub", () => {
    beforeAll(async () => {
      gh = await startEmbeddedGitHub({ owner: "octo", repo: "demo", files: { "README.md": "# Demo\n" } });
    });
    afterAll(() => gh.close());
    describeCheckpointStore(name, () => open(template, options));
  });
}

describeOnGitHub("GitHub, a branch an issue,", "crunch/issue-{issue}");
describeOnGitHub("GitHub, a shared branch,", "crunch-state");
describeOnGitHub("GitHub, a shared branch, compressed and elsewhere,", "crunch-state", {
  compress: true,
  layout: createLayout("state/issue-{issue}/chain"),
});
