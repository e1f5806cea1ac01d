import type { Layout } from "../../checkpoint/layout.js";
import { orNull } from "./client.js";
import { named, type Repository } from "./repository.js";

/** The issues that have a branch of their own. */
export async function issuesByBranch(repository: Repository, template: string): Promise<number[]> {
  const [before = "", after = ""] = template.split("{issue}");
  const ref = `heads/${before}`;
  const { data } = await repository.octokit.git.listMatchingRefs({ ...named(repository), ref });
  const names = data.map((found) => found.ref.slice(`refs/${ref}`.length));
  return numbersIn(
    names.filter((name) => name.endsWith(after)).map((name) => name.slice(0, name.length - after.length)),
  );
}

/** The issues that have a folder on the branch they share. */
export async function issuesByFolder(
  repository: Repository,
  branch: string,
  layout: Layout,
): Promise<number[]> {
  const ref = `heads/${branch}`;
  const tree_sha = layout.parent === "" ? ref : await folderSha(repository, layout.parent, ref);
  if (tree_sha === null) return [];
  // As a tree, because GitHub lists no more than 1,000 entries of a folder's contents.
  const found = await orNull(repository.octokit.git.getTree({ ...named(repository), tree_sha }));
  const folders = found?.data.tree.filter(({ type }) => type === "tree") ?? [];
  const issues = folders.map(({ path }) => layout.issueNamed(path ?? ""));
  return issues.filter((issue) => issue !== null).sort((a, b) => a - b);
}

async function folderSha(repository: Repository, folder: string, ref: string): Promise<string | null> {
  const at = folder.lastIndexOf("/");
  const query = { ...named(repository), path: folder.slice(0, Math.max(at, 0)), ref };
  const listed = (await orNull(repository.octokit.repos.getContent(query)))?.data;
  if (!Array.isArray(listed)) return null;
  return listed.find(({ name, type }) => name === folder.slice(at + 1) && type === "dir")?.sha ?? null;
}

function numbersIn(names: readonly string[]): number[] {
  const isNumber = (name: string) => /^[1-9]\d*$/.test(name);
  return names
    .filter(isNumber)
    .map(Number)
    .sort((a, b) => a - b);
}
