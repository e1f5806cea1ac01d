import type { CodeChange, CodeHost } from "../../ports.js";
import { isUncertain, statusOf } from "./client.js";
import { branchTip, createCommit, type GitCommit, treeEntries } from "./git-data.js";
import { moveRef } from "./move-ref.js";
import { named, type Repository } from "./repository.js";

const statuses: Readonly<Record<string, CodeChange["status"]>> = {
  added: "added",
  removed: "deleted",
  renamed: "renamed",
};

export function createCodeHost(repository: Repository): CodeHost {
  const { octokit, owner } = repository;
  const names = named(repository);
  /** Commits seen or made, so that their trees need not be asked for. */
  const known = new Map<string, GitCommit>();

  function remember(commit: GitCommit | null): GitCommit | null {
    if (commit) known.set(commit.sha, commit);
    return commit;
  }

  async function findPullRequest(branch: string, base: string): Promise<number | null> {
    const { data } = await octokit.pulls.list({
      ...names,
      head: `${owner}:${branch}`,
      base,
      state: "open",
      per_page: 1,
    });
    return data[0]?.number ?? null;
  }

  const host: CodeHost = {
    defaultBranch: repository.defaultBranch,
    head: async (branch) => remember(await branchTip(repository, branch)),
    async commit(sha) {
      const seen = known.get(sha);
      if (seen) return seen;
      const { data } = await octokit.git.getCommit({ ...names, commit_sha: sha });
      return { sha, tree: data.tree.sha };
    },
    async prepareCommit({ parent, changes, message }) {
      const entries = await treeEntries(repository, changes);
      const commit = await createCommit(repository, {
        entries,
        baseTree: parent.tree,
        parents: [parent.sha],
        message,
      });
      known.set(commit.sha, commit);
      return commit;
    },
    async prepareRestore({ parent, filesOf, message }) {
      const { tree } = await host.commit(filesOf);
      const { data } = await octokit.git.createCommit({ ...names, message, parents: [parent], tree });
      const commit = { sha: data.sha, tree };
      known.set(commit.sha, commit);
      return commit;
    },
    async changesBetween(from, to) {
      const basehead = `${from}...${to}`;
      const { data } = await octokit.repos.compareCommitsWithBasehead({ ...names, basehead, per_page: 100 });
      return (data.files ?? []).map(({ filename, status, patch }) => ({
        path: filename,
        status: statuses[status] ?? "modified",
        patch: patch ?? null,
      }));
    },
    async moveBranch(branch, to, from) {
      const moved = await moveRef(repository, branch, { from, to });
      if (moved.status === "moved") return "moved";
      if (moved.tip === null || from !== null) return "diverged";
      // It was thought not to exist, and it does; an advance from where it is, is still fine.
      const again = await moveRef(repository, branch, { from: moved.tip, to });
      return again.status === "moved" ? "moved" : "diverged";
    },
    async openPullRequest({ branch, base, title, body }) {
      const create = async () =>
        (await octokit.pulls.create({ ...names, head: branch, base, title, body })).data.number;
      try {
        return await create();
      } catch (error) {
        // One that exists already answers 422; after a lost answer it may exist too; where a setting forbids it to
        // Crunch (403), a person may have opened it.
        const isForbidden = statusOf(error) === 403;
        if (statusOf(error) !== 422 && !isForbidden && !isUncertain(error)) throw error;
        const found = await findPullRequest(branch, base);
        if (found === null && isForbidden) return "forbidden";
        return found === null && isUncertain(error) ? create() : found;
      }
    },
  };
  return host;
}
