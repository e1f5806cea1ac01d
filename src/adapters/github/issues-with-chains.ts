import { issueFolder } from "../../checkpoint/layout.js";
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
export async function issuesByFolder(repository: Repository, branch: string): Promise<number[]> {
  const [root = "", folder = ""] = issueFolder(0).split("/");
  const query = { ...named(repository), path: root, ref: `heads/${branch}` };
  const listed = (await orNull(repository.octokit.repos.getContent(query)))?.data;
  const found = Array.isArray(listed)
    ? listed.find(({ name, type }) => name === folder && type === "dir")
    : null;
  if (!found) return [];
  // As a tree, because GitHub lists no more than 1,000 entries of a folder's contents.
  const { data } = await repository.octokit.git.getTree({ ...named(repository), tree_sha: found.sha });
  return numbersIn(data.tree.filter(({ type }) => type === "tree").map(({ path }) => path ?? ""));
}

function numbersIn(names: readonly string[]): number[] {
  const isNumber = (name: string) => /^[1-9]\d*$/.test(name);
  return names
    .filter(isNumber)
    .map(Number)
    .sort((a, b) => a - b);
}
