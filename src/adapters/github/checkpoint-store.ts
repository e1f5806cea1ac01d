import { parseIndex, parsePage } from "../../checkpoint/index-file.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { defaultStorage, type StorageOptions } from "../../checkpoint/storage-options.js";
import { CrunchError } from "../../errors.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";
import * as rules from "../chain-rules.js";
import { listed } from "../list-chain.js";
import { createChainTips, type Tip } from "./chain-tips.js";
import { commitCheckpoint } from "./checkpoint-commit.js";
import { readFileAt } from "./git-data.js";
import { issuesByBranch, issuesByFolder } from "./issues-with-chains.js";
import { moveRef } from "./move-ref.js";
import type { Repository } from "./repository.js";

export interface GitHubStoreOptions {
  readonly storage?: Partial<StorageOptions>;
  readonly now?: () => number;
}

/**
 * Checkpoints as commits on a branch of the repo, through the Git Data API: a tree, a commit and one move of the
 * ref, which is the only commit point.
 */
export function createGitHubStore(
  repository: Repository,
  branchTemplate: string,
  options: GitHubStoreOptions = {},
): CheckpointStore {
  const storage = { ...defaultStorage, ...options.storage };
  const { layout } = storage;
  const branchOf = (issue: number) => branchTemplate.replaceAll("{issue}", String(issue));
  const tips = createChainTips(repository, layout, branchOf, options.now ?? Date.now);
  const readAt = (issue: number, path: string, ref = `heads/${branchOf(issue)}`) =>
    readFileAt(repository, `${layout.folder(issue)}/${path}`, ref);

  async function readCheckpoint(issue: number, id: string, ref?: string): Promise<Buffer | null> {
    const [likely, other] = [
      layout.checkpoint(id, storage.compress),
      layout.checkpoint(id, !storage.compress),
    ];
    return (await readAt(issue, likely, ref)) ?? readAt(issue, other, ref);
  }

  async function step(checkpoint: Checkpoint, tip: Tip, content: Buffer | string, options: PutOptions) {
    const issue = checkpoint.issue_number;
    const index = await tips.index(issue, tip);
    const next = rules.extendChain(index, checkpoint, options, storage);
    const parent = rules.parentToFind(index, checkpoint);
    if (parent !== null && !(await readCheckpoint(issue, parent, tip.commit?.sha)))
      throw rules.parentMissing(checkpoint);
    rules.refuseTooMuch(content, next, options.files, storage);
    return next;
  }

  async function put(checkpoint: Checkpoint, options: PutOptions): Promise<PutResult> {
    const content = rules.encodeForChain(checkpoint, options, storage);
    const issue = checkpoint.issue_number;
    const isRollback = checkpoint.trigger === "rollback";
    const read = isRollback ? tips.readForRollback : tips.read;
    let tip = isRollback ? await read(issue) : await tips.recent(issue);
    // On a branch that issues share, the tip may have moved without touching this chain: then build on the new one.
    for (;;) {
      if (endOf(tip) !== options.expectedLatest) {
        tip = await read(issue);
        if (endOf(tip) !== options.expectedLatest) return { status: "conflict", latest: tip.latest };
      }
      const next = await step(checkpoint, tip, content, options);
      const commit = await commitCheckpoint(
        repository,
        { checkpoint, content, next, storage },
        tip.commit,
        options,
      );
      const from = tip.commit?.sha ?? null;
      const moved = await moveRef(repository, branchOf(issue), { from, to: commit.sha });
      if (moved.status === "moved") {
        tips.remember(issue, { commit, latest: checkpoint, index: next.index });
        return { status: "stored", commit: commit.sha };
      }
      if (moved.tip === from) throw refusedByGitHub(branchOf(issue));
      tip = await read(issue);
    }
  }

  return {
    put,
    latest: async (issue) => (await tips.read(issue)).latest,
    async load(issue, id) {
      const bytes = await readCheckpoint(issue, id);
      return bytes && rules.decodeOfChain(bytes, issue, id);
    },
    async list(issue, options) {
      const text = await readAt(issue, layout.index);
      return listed(text && parseIndex(text.toString("utf8")), options, async (number) => {
        const page = await readAt(issue, layout.page(number));
        return page && parsePage(page.toString("utf8"));
      });
    },
    async readFile(issue, path) {
      rules.refuseOutside(path);
      const { commit } = await tips.known(issue);
      return commit && readAt(issue, path, commit.sha);
    },
    issues: () =>
      branchTemplate.includes("{issue}")
        ? issuesByBranch(repository, branchTemplate)
        : issuesByFolder(repository, branchTemplate, layout),
  };
}

const endOf = (tip: Tip): string | null => tip.latest?.checkpoint_id ?? tip.unreadable ?? null;

/** The branch did not move, and yet a plain advance was refused: a rule of the repo forbids it. */
function refusedByGitHub(branch: string): CrunchError {
  return new CrunchError({
    code: "storage_branch_refused",
    message: `GitHub does not let Crunch advance the branch \`${branch}\`.`,
    hint: "Exempt that branch from the repo's rules, or name another one with `checkpoint.storage.branch` in .github/crunch.yml.",
  });
}
