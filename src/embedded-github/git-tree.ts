import { type Answer, succeeded } from "./answer.js";
import { forward } from "./forward.js";
import { isObject, listOf, objectOf, textOf } from "./json.js";
import type { Call } from "./route.js";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** GitHub tells an entry's type from its mode, and takes a commit for `base_tree`; the emulator does not. */
export async function createTree(call: Call): Promise<Answer> {
  const tree = listOf(call.body.tree)
    .map(objectOf)
    .map((entry) => {
      const known = entry.mode === "040000" ? "tree" : entry.mode === "160000" ? "commit" : "blob";
      return { ...entry, type: entry.type ?? known, sha: entry.sha };
    });
  const base = textOf(call.body.base_tree);
  const commit = base === "" ? undefined : await call.front.read(`/git/commits/${base}`);
  const base_tree = isObject(commit) ? textOf(objectOf(commit.tree).sha) : base;
  const made = await forward(call, { body: { ...call.body, tree, ...(base === "" ? {} : { base_tree }) } });
  const deletes = tree.some((entry) => entry.sha === null);
  return succeeded(made) && deletes ? withoutEmptyFolders(call, made) : made;
}

/** Git knows no empty folders, the emulator leaves them; each round may empty the folder above. */
async function withoutEmptyFolders(call: Call, made: Answer): Promise<Answer> {
  const sha = textOf(objectOf(made.body).sha);
  const listed = await call.front.readObject(`/git/trees/${sha}?recursive=1`);
  const tree = listOf(listed.tree)
    .map(objectOf)
    .filter((entry) => entry.sha === EMPTY_TREE)
    .map(({ path }) => ({ path, mode: "040000", type: "tree", sha: null }));
  if (tree.length === 0) return made;
  const next = await forward(call, { body: { base_tree: sha, tree } });
  return succeeded(next) ? withoutEmptyFolders(call, next) : next;
}
