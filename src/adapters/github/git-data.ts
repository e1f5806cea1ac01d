import type { FileChange } from "../../ports.js";
import { isUncertain, orNull, statusOf } from "./client.js";
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
    const { data } = await repository.octokit.repos.getCommit({ ...named(repository), ref: `heads/${branch}`, per_page: 1 });
    return { sha: data.sha, tree: data.commit.tree.sha };
  } catch (error) {
    // GitHub answers 422 for a name that is no commit, 409 for a repo without any.
    if ([404, 409, 422].includes(statusOf(error) ?? 0)) return null;
    throw error;
  }
}

export async function readRef(repository: Repository, branch: string): Promise<string | null> {
  const found = await orNull(repository.octokit.git.getRef({ ...named(repository), ref: `heads/${branch}` }));
  return found?.data.object.sha ?? null;
}

/** Text goes inline with the tree; only what is not UTF-8 needs a blob of its own. */
export async function treeEntries(repository: Repository, changes: readonly FileChange[], folder = ""): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  for (const { path, mode, content } of changes) {
    const base = { path: folder + path, mode, type: "blob" as const };
    if (content === null) entries.push({ ...base, sha: null });
    else if (isText(content)) entries.push({ ...base, content: content.toString("utf8") });
    else {
      const blob = { content: content.toString("base64"), encoding: "base64" };
      const { data } = await repository.octokit.git.createBlob({ ...named(repository), ...blob });
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
  const base = options.baseTree === null ? {} : { base_tree: options.baseTree };
  // Trees and commits that nothing points to harm nobody, so these two may be repeated after a fault.
  const tree = await repeated(() =>
    repository.octokit.git.createTree({ ...named(repository), ...base, tree: options.entries.map((entry) => ({ ...entry })) }),
  );
  const { message, parents } = options;
  const commit = await repeated(() =>
    repository.octokit.git.createCommit({ ...named(repository), message, parents: [...parents], tree: tree.data.sha }),
  );
  return { sha: commit.data.sha, tree: tree.data.sha };
}

async function repeated<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!isUncertain(error)) throw error;
    return request();
  }
}

/**
 * Moves a branch from one commit to the next, or creates it; never by force. After a lost answer or a refusal the
 * branch itself tells what happened.
 */
export async function moveRef(
  repository: Repository,
  branch: string,
  options: { readonly from: string | null; readonly to: string },
): Promise<{ readonly status: "moved" } | { readonly status: "refused"; readonly tip: string | null }> {
  try {
    const ref = `heads/${branch}`;
    if (options.from === null) {
      await repository.octokit.git.createRef({ ...named(repository), ref: `refs/${ref}`, sha: options.to });
    } else await repository.octokit.git.updateRef({ ...named(repository), ref, sha: options.to, force: false });
    return { status: "moved" };
  } catch (error) {
    const status = statusOf(error);
    if (!isUncertain(error) && status !== 422 && status !== 409 && status !== 404) throw error;
    const tip = await readRef(repository, branch);
    if (tip === options.to || (tip !== null && (await isAncestor(repository, options.to, tip)))) return { status: "moved" };
    if (tip === options.from && isUncertain(error)) return moveRefAgain(repository, branch, options);
    // A name or commit that GitHub does not take is no race.
    if (tip === null && options.from === null) throw error;
    return { status: "refused", tip };
  }
}

/** One more try, after the branch has shown that the first one did not take place. */
async function moveRefAgain(
  repository: Repository,
  branch: string,
  { from, to }: { readonly from: string | null; readonly to: string },
) {
  const ref = `heads/${branch}`;
  if (from === null) await repository.octokit.git.createRef({ ...named(repository), ref: `refs/${ref}`, sha: to });
  else await repository.octokit.git.updateRef({ ...named(repository), ref, sha: to, force: false });
  return { status: "moved" } as const;
}

async function isAncestor(repository: Repository, older: string, newer: string): Promise<boolean> {
  const basehead = `${older}...${newer}`;
  const found = await orNull(repository.octokit.repos.compareCommitsWithBasehead({ ...named(repository), basehead }));
  return found?.data.status === "ahead" || found?.data.status === "identical";
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
