import { type Answer, notFound, refusal, succeeded } from "./answer.js";
import { branchMoved } from "./branch-moves.js";
import { forward } from "./forward.js";
import { issueNumber } from "./issue-changes.js";
import { isObject, listOf, objectOf, textOf } from "./json.js";
import type { PullHead } from "./pull-heads.js";
import type { Call } from "./route.js";

type Files = ReadonlyMap<string, { readonly mode: string; readonly sha: string }>;

/**
 * The emulator merges the head and base that were there when the request was opened. It still marks the request
 * merged; the base branch is then set to a merge of what the branches hold now.
 */
export async function mergePull(call: Call): Promise<Answer> {
  const { front } = call;
  const pull = front.parts.pulls.get(issueNumber(call));
  if (pull === undefined) return notFound();
  if (!pull.open) return refusal(405, "Pull Request is not mergeable");
  if (call.body.sha !== undefined && call.body.sha !== pull.sha)
    return refusal(409, "Head branch was modified. Review and try the merge again.");
  const before = textOf(objectOf((await front.readObject(`/git/ref/heads/${pull.base}`)).object).sha);
  const tree = await mergedTree(call, pull, before);
  if (tree === undefined) return refusal(405, "Pull Request is not mergeable");
  const { sha: _, ...body } = call.body;
  const done = await forward(call, { body });
  if (!succeeded(done)) return done;

  const stale = await front.readObject(`/git/commits/${textOf(objectOf(done.body).sha)}`);
  const parents = call.body.merge_method === undefined || call.body.merge_method === "merge";
  const made = await forward(call, {
    method: "POST",
    path: "/git/commits",
    body: { message: stale.message, tree, parents: parents ? [before, pull.sha] : [before] },
  });
  const sha = textOf(objectOf(made.body).sha);
  await front.write("PATCH", `/git/refs/heads/${pull.base}`, { sha, force: true });
  front.parts.pulls.change(pull.number, { open: false, mergeCommit: sha });
  const pull_request = await front.readObject(`/pulls/${pull.number}`);
  await front.emit(call.identity, "pull_request", { action: "closed", number: pull.number, pull_request });
  await branchMoved(call, pull.base, before, sha);
  return { ...done, body: { ...objectOf(done.body), sha } };
}

/** A merge by whole files; undefined when both sides changed the same one. */
async function mergedTree(call: Call, pull: PullHead, base: string): Promise<string | undefined> {
  const compared = await call.front.read(`/compare/${base}...${pull.sha}`);
  if (!isObject(compared)) return undefined;
  const [common, ours, theirs] = await Promise.all([
    filesAt(call, textOf(objectOf(compared.merge_base_commit).sha)),
    filesAt(call, base),
    filesAt(call, pull.sha),
  ]);
  const tree: unknown[] = [];
  for (const path of new Set([...ours.keys(), ...theirs.keys()])) {
    const [was, our, their] = [common.get(path), ours.get(path), theirs.get(path)];
    if (key(our) === key(their) || key(their) === key(was)) continue;
    if (key(our) !== key(was)) return undefined;
    const mode = their?.mode ?? our?.mode;
    tree.push({ path, mode, type: "blob", sha: their?.sha ?? null });
  }
  const commit = await call.front.readObject(`/git/commits/${base}`);
  const base_tree = textOf(objectOf(commit.tree).sha);
  if (tree.length === 0) return base_tree;
  const made = await call.front.write("POST", "/git/trees", { base_tree, tree });
  return textOf(objectOf(made.body).sha);
}

const key = (file: { mode: string; sha: string } | undefined): string | undefined =>
  file && `${file.mode} ${file.sha}`;

async function filesAt(call: Call, sha: string): Promise<Files> {
  const tree = await call.front.readObject(`/git/trees/${sha}?recursive=1`);
  const entries = listOf(tree.tree)
    .map(objectOf)
    .filter((entry) => entry.type === "blob");
  return new Map(
    entries.map((entry) => [textOf(entry.path), { mode: textOf(entry.mode), sha: textOf(entry.sha) }]),
  );
}
