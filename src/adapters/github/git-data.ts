import type { FileChange } from "../../ports.js";
import { orNull, repeated, statusOf } from "./client.js";
import { named, type Repository } from "./repository.js";

export interface GitCommit {
  readonly sha: string;
  readonly tree: string;
}

export type TreeEntry = {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  readonly type: "blob";
} & ({ readonly content: string } | { readonly sha: string | null });

/** The commit a branch points to, in one request. */
export async function branchTip(repository: Repository, branch: string): Promise<GitCommit | null> {
  try {
    const { data } = await repository.octokit.repos.getCommit({
      ...named(repository),
      ref: `heads/${branch}`,
      per_page: 1,
    });
    return { sha: data.sha, tree: data.commit.tree.sha };
  } catch (error) {
    // GitHub answers 422 for a name that is no commit, 409 for a repo without any.
    if ([404, 409, 422].includes(statusOf(error) ?? 0)) return null;
    throw error;
  }
}

/** Text goes inline with the tree; only what is not UTF-8 needs a blob of its own. */
export async function treeEntries(
  repository: Repository,
  changes: readonly FileChange[],
  folder = "",
): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  for (const { path, mode, content } of changes) {
    const base = { path: folder + path, mode, type: "blob" as const };
    if (content === null) entries.push({ ...base, sha: null });
    else if (isText(content)) entries.push({ ...base, content: content.toString("utf8") });
    else {
      const blob = { content: content.toString("base64"), encoding: "base64" };
      const create = () => repository.octokit.git.createBlob({ ...named(repository), ...blob });
      const { data } = await repeated(create);
      entries.push({ ...base, sha: data.sha });
    }
  }
  return entries;
}

function isText(content: Buffer): boolean {
  return !content.includes(0) && Buffer.from(content.toString("utf8")).equals(content);
}

export async function createCommit(
  repository: Repository,
  options: {
    readonly entries: readonly TreeEntry[];
    readonly baseTree: string | null;
    readonly parents: readonly string[];
    readonly message: string;
  },
): Promise<GitCommit> {
  const isNew = options.baseTree === null;
  const base = options.baseTree === null ? {} : { base_tree: options.baseTree };
  // GitHub refuses to delete from a tree that is only being made.
  const entries = options.entries.filter((entry) => !(isNew && "sha" in entry && entry.sha === null));
  // Trees and commits that nothing points to harm nobody, so these may be repeated after a fault.
  const tree = await repeated(() =>
    repository.octokit.git.createTree({
      ...named(repository),
      ...base,
      tree: entries.map((entry) => ({ ...entry })),
    }),
  );
  const { message, parents } = options;
  const commit = await repeated(() =>
    repository.octokit.git.createCommit({
      ...named(repository),
      message,
      parents: [...parents],
      tree: tree.data.sha,
    }),
  );
  return { sha: commit.data.sha, tree: tree.data.sha };
}

/** A file's bytes at a commit; a symlink to a file of the repo gives that file's. */
export async function readFileAt(repository: Repository, path: string, ref: string): Promise<Buffer | null> {
  const found = await orNull(
    repository.octokit.request("GET /repos/{owner}/{repo}/contents/{path}", {
      ...named(repository),
      path,
      ref,
      headers: { accept: "application/vnd.github.raw" },
      request: { parseSuccessResponseBody: false },
    }),
  );
  if (!found) return null;
  const body: unknown = found.data;
  if (typeof body === "string") return Buffer.from(body);
  return Buffer.from(await new Response(body as ConstructorParameters<typeof Response>[0]).arrayBuffer());
}
