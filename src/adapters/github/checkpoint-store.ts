import { randomBytes } from "node:crypto";
import { parseIndex } from "../../checkpoint/index-file.js";
import { checkpointPath, fileName, indexPath, latestPath } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";
import { decodeOfChain, encodeForChain, extendIndex, refuseOutside } from "./chain-rules.js";
import { createChainTips, pathOf } from "./chain-tips.js";
import { createCommit, readFileAt, type TreeEntry, treeEntries } from "./git-data.js";
import { issuesByBranch, issuesByFolder } from "./issues-with-chains.js";
import { moveRef } from "./move-ref.js";
import type { Repository } from "./repository.js";

/**
 * Checkpoints as commits on a branch of the repo, through the Git Data API: a tree, a commit and one move of the
 * ref, which is the only commit point.
 */
export function createGitHubStore(
  repository: Repository,
  branchTemplate: string,
  now: () => number = Date.now,
): CheckpointStore {
  const branchOf = (issue: number) => branchTemplate.replaceAll("{issue}", String(issue));
  const tips = createChainTips(repository, branchOf, now);

  async function entriesFor(
    { issue_number: issue, checkpoint_id: id }: Checkpoint,
    own: { readonly content: string; readonly index: string },
    files: PutOptions["files"] = [],
  ): Promise<TreeEntry[]> {
    const file = { mode: "100644", type: "blob" } as const;
    return [
      ...(await treeEntries(repository, files, pathOf(issue, ""))),
      { ...file, path: pathOf(issue, checkpointPath(id)), content: own.content },
      { ...file, path: pathOf(issue, indexPath), content: own.index },
      { ...file, path: pathOf(issue, latestPath), content: fileName(id), mode: "120000" },
    ];
  }

  async function put(checkpoint: Checkpoint, options: PutOptions): Promise<PutResult> {
    const content = encodeForChain(checkpoint, options);
    const issue = checkpoint.issue_number;
    let tip = await tips.recent(issue);
    // On a branch that issues share, the tip may have moved without touching this chain: then build on the new one.
    for (;;) {
      if ((tip.latest?.checkpoint_id ?? null) !== options.expectedParent) {
        tip = await tips.read(issue);
        if ((tip.latest?.checkpoint_id ?? null) !== options.expectedParent)
          return { status: "conflict", latest: tip.latest };
      }
      const index = extendIndex(await tips.index(issue, tip), options.expectedParent, checkpoint);
      const from = tip.commit?.sha ?? null;
      const commit = await createCommit(repository, {
        entries: await entriesFor(checkpoint, { content, index }, options.files),
        baseTree: tip.commit?.tree ?? null,
        parents: [from, options.codeCommit].filter((sha) => typeof sha === "string"),
        message: commitMessage(checkpoint),
      });
      const moved = await moveRef(repository, branchOf(issue), { from, to: commit.sha });
      if (moved.status === "moved") {
        tips.remember(issue, { commit, latest: checkpoint, index });
        return { status: "stored", commit: commit.sha };
      }
      if (moved.tip === from) throw refusedByGitHub(branchOf(issue));
      tip = await tips.read(issue);
    }
  }

  return {
    put,
    latest: async (issue) => (await tips.read(issue)).latest,
    async load(issue, id) {
      const path = pathOf(issue, checkpointPath(id));
      const bytes = await readFileAt(repository, path, `heads/${branchOf(issue)}`);
      return bytes && decodeOfChain(bytes, issue, id);
    },
    async list(issue) {
      const text = await readFileAt(repository, pathOf(issue, indexPath), `heads/${branchOf(issue)}`);
      return text ? parseIndex(text.toString("utf8")).checkpoints : [];
    },
    async readFile(issue, path) {
      refuseOutside(path);
      const { commit } = await tips.known(issue);
      return commit && readFileAt(repository, pathOf(issue, path), commit.sha);
    },
    issues: () =>
      branchTemplate.includes("{issue}")
        ? issuesByBranch(repository, branchTemplate)
        : issuesByFolder(repository, branchTemplate),
  };
}

/** The branch did not move, and yet a plain advance was refused: a rule of the repo forbids it. */
function refusedByGitHub(branch: string): CrunchError {
  return new CrunchError({
    code: "storage_branch_refused",
    message: `GitHub does not let Crunch advance the branch \`${branch}\`.`,
    hint: "Exempt that branch from the repo's rules, or name another one with `storage.branch` in .github/crunch.yml.",
  });
}

/** `[skip ci]`: a checkpoint starts nobody's CI. The nonce keeps two racers with equal content from sharing a SHA. */
function commitMessage(checkpoint: Checkpoint): string {
  const { checkpoint_id, trigger, outcome, workflow_state: state } = checkpoint;
  const what = `${state.current_phase}: ${trigger}${outcome ? ` (${outcome})` : ""}`;
  return `${what} [skip ci]\n\nCheckpoint: ${checkpoint_id}\nNonce: ${randomBytes(8).toString("hex")}\n`;
}
