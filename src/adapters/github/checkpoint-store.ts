import { randomBytes } from "node:crypto";
import { decodeCheckpoint, encodeCheckpoint } from "../../checkpoint/codec.js";
import { appendToIndex, parseIndex } from "../../checkpoint/index-file.js";
import { checkpointPath, fileName, indexPath, issueFolder, latestPath } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";
import { branchTip, createCommit, type GitCommit, moveRef, readFileAt, type TreeEntry, treeEntries } from "./git-data.js";
import { named, type Repository } from "./repository.js";

/** What is known of a branch after reading or writing it: saves reading it again before the next write. */
interface Tip {
  readonly commit: GitCommit | null;
  readonly latest: Checkpoint | null;
  /** Undefined until it is needed. */
  readonly index: string | null | undefined;
}

/**
 * Checkpoints as commits on a branch of the repo, through the Git Data API: a tree, a commit and one move of the
 * ref, which is the only commit point.
 */
export function createGitHubStore(repository: Repository, branchTemplate: string): CheckpointStore {
  const tips = new Map<number, Tip>();
  const branchOf = (issue: number) => branchTemplate.replaceAll("{issue}", String(issue));
  const pathOf = (issue: number, path: string) => `${issueFolder(issue)}/${path}`;

  async function readTip(issue: number): Promise<Tip> {
    const commit = await branchTip(repository, branchOf(issue));
    const bytes = commit && (await readFileAt(repository, pathOf(issue, latestPath), commit.sha));
    const tip = { commit, latest: bytes ? await decodeLatest(issue, commit, bytes) : null, index: undefined };
    tips.set(issue, tip);
    return tip;
  }

  /** `latest` is a symlink, and GitHub gives the file behind it; where it is a plain file, it holds the name. */
  async function decodeLatest(issue: number, commit: GitCommit, bytes: Buffer): Promise<Checkpoint | null> {
    const name = bytes.length < 200 ? bytes.toString("utf8").trim() : "";
    if (!name.endsWith(".yaml")) return decodeCheckpoint(bytes);
    const path = pathOf(issue, checkpointPath(name.slice(0, -".yaml".length)));
    const target = await readFileAt(repository, path, commit.sha);
    return target ? decodeCheckpoint(target) : null;
  }

  async function indexOf(issue: number, tip: Tip): Promise<string | null> {
    if (tip.index !== undefined) return tip.index;
    if (!tip.commit) return null;
    return (await readFileAt(repository, pathOf(issue, indexPath), tip.commit.sha))?.toString("utf8") ?? null;
  }

  async function entriesFor(checkpoint: Checkpoint, index: string, options: PutOptions): Promise<TreeEntry[]> {
    const issue = checkpoint.issue_number;
    const file = { mode: "100644", type: "blob" } as const;
    return [
      { ...file, path: pathOf(issue, checkpointPath(checkpoint.checkpoint_id)), content: encodeCheckpoint(checkpoint) },
      { ...file, path: pathOf(issue, indexPath), content: index },
      { ...file, mode: "120000", path: pathOf(issue, latestPath), content: fileName(checkpoint.checkpoint_id) },
      ...(await treeEntries(repository, options.files ?? [], `${issueFolder(issue)}/`)),
    ];
  }

  async function put(checkpoint: Checkpoint, options: PutOptions): Promise<PutResult> {
    const issue = checkpoint.issue_number;
    let tip = tips.get(issue) ?? (await readTip(issue));
    // On a branch that issues share, the tip may have moved without touching this chain: then build on the new one.
    for (;;) {
      if ((tip.latest?.checkpoint_id ?? null) !== options.expectedParent) {
        const fresh = await readTip(issue);
        if ((fresh.latest?.checkpoint_id ?? null) !== options.expectedParent) return { status: "conflict", latest: fresh.latest };
        tip = fresh;
      }
      const index = appendToIndex(await indexOf(issue, tip), checkpoint);
      const commit = await createCommit(repository, {
        entries: await entriesFor(checkpoint, index, options),
        baseTree: tip.commit?.tree ?? null,
        parents: [tip.commit?.sha, options.codeCommit].filter((sha) => typeof sha === "string"),
        message: commitMessage(checkpoint),
      });
      const moved = await moveRef(repository, branchOf(issue), { from: tip.commit?.sha ?? null, to: commit.sha });
      if (moved.status === "moved") {
        tips.set(issue, { commit, latest: checkpoint, index });
        return { status: "stored", commit: commit.sha };
      }
      if (moved.tip === (tip.commit?.sha ?? null)) throw refusedByGitHub(branchOf(issue));
      tip = await readTip(issue);
    }
  }

  return {
    put,
    latest: async (issue) => (await readTip(issue)).latest,
    async load(issue, id) {
      const path = pathOf(issue, checkpointPath(id));
      const bytes = await readFileAt(repository, path, `heads/${branchOf(issue)}`);
      return bytes ? decodeCheckpoint(bytes) : null;
    },
    async list(issue) {
      const text = await readFileAt(repository, pathOf(issue, indexPath), `heads/${branchOf(issue)}`);
      return text ? parseIndex(text.toString("utf8")).checkpoints : [];
    },
    async readFile(issue, path) {
      const tip = tips.get(issue) ?? (await readTip(issue));
      return tip.commit ? readFileAt(repository, pathOf(issue, path), tip.commit.sha) : null;
    },
    async issues() {
      const [before = "", after = ""] = branchTemplate.split("{issue}");
      const { data } = await repository.octokit.git.listMatchingRefs({ ...named(repository), ref: `heads/${before}` });
      const names = data.map(({ ref }) => ref.slice(`refs/heads/${before}`.length));
      const numbers = names.filter((name) => name.endsWith(after)).map((name) => name.slice(0, name.length - after.length));
      return numbers.filter((number) => /^[1-9]\d*$/.test(number)).map(Number);
    },
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
