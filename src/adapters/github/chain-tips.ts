import { isCompressed } from "../../checkpoint/compression.js";
import { type CheckpointIndex, parseIndex } from "../../checkpoint/index-file.js";
import type { Layout } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import { decodeOfChain, idInLatest, latestMissing } from "../chain-rules.js";
import { Recent } from "../recent.js";
import { branchTip, type GitCommit, readFileAt } from "./git-data.js";
import type { Repository } from "./repository.js";

/** What is known of a chain's branch after reading or writing it: saves reading it again before the next write. */
export interface Tip {
  readonly commit: GitCommit | null;
  readonly latest: Checkpoint | null;
  /** The id of a latest that can't be read. */
  readonly unreadable?: string;
  /** Undefined until it is needed. */
  readonly index: CheckpointIndex | null | undefined;
}

/**
 * How long a branch is taken to be where it was last seen. GitHub refuses an advance from a commit that the branch
 * left sideways, but not from one that it was moved back from by hand: so after a long agent's run, look first.
 */
const trustedMs = 10_000;

export function createChainTips(
  repository: Repository,
  layout: Layout,
  branchOf: (issue: number) => string,
  now: () => number,
) {
  const pathOf = (issue: number, path: string) => `${layout.folder(issue)}/${path}`;
  const seen = new Recent<number, { readonly tip: Tip; readonly at: number }>(100);

  function remember(issue: number, tip: Tip, at = now()): Tip {
    seen.set(issue, { tip, at });
    return tip;
  }

  async function read(issue: number): Promise<Tip> {
    const at = now();
    const commit = await branchTip(repository, branchOf(issue));
    const known = seen.get(issue)?.tip;
    const isUnmoved = known !== undefined && known.commit?.sha === commit?.sha;
    return remember(issue, isUnmoved ? known : await readCommit(issue, commit), at);
  }

  async function readCommit(issue: number, commit: GitCommit | null): Promise<Tip> {
    const bytes = commit && (await readFileAt(repository, pathOf(issue, layout.latest), commit.sha));
    const latest = bytes && (await decodeLatest(issue, commit, bytes));
    return { commit, latest, index: undefined };
  }

  /** `latest` is a symlink, and GitHub gives the file behind it; where it is a plain file, it holds the name. */
  async function decodeLatest(issue: number, commit: GitCommit, bytes: Buffer): Promise<Checkpoint> {
    // No checkpoint is as short as a name.
    if (bytes.length >= 200 || isCompressed(bytes)) return decodeOfChain(bytes, issue, null);
    const name = bytes.toString("utf8");
    const id = idInLatest(name);
    const path = pathOf(issue, layout.checkpoint(id, name.trim().endsWith(".gz")));
    const target = await readFileAt(repository, path, commit.sha);
    if (!target) throw latestMissing(id);
    return decodeOfChain(target, issue, id);
  }

  /** The end of the chain for a rollback, which may be what mends a latest that can't be read. */
  async function readForRollback(issue: number): Promise<Tip> {
    try {
      return await read(issue);
    } catch (error) {
      if (!(error instanceof CrunchError)) throw error;
      const commit = await branchTip(repository, branchOf(issue));
      const index = commit && (await readIndex(issue, commit));
      if (!index) throw error;
      return { commit, latest: null, unreadable: index.latest, index };
    }
  }

  async function readIndex(issue: number, commit: GitCommit): Promise<CheckpointIndex | null> {
    const bytes = await readFileAt(repository, pathOf(issue, layout.index), commit.sha);
    return bytes && parseIndex(bytes.toString("utf8"));
  }

  return {
    read,
    readForRollback,
    remember,
    /** As last seen, however long ago. */
    known: async (issue: number) => seen.get(issue)?.tip ?? read(issue),
    /** As last seen, if that is not long ago. */
    async recent(issue: number): Promise<Tip> {
      const last = seen.get(issue);
      return last && now() - last.at < trustedMs ? last.tip : read(issue);
    },
    async index(issue: number, tip: Tip): Promise<CheckpointIndex | null> {
      if (tip.index !== undefined) return tip.index;
      return tip.commit && readIndex(issue, tip.commit);
    },
  };
}
