import { artifactPaths, type Chain, problemsOf } from "../checkpoint/invariants.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore } from "../ports.js";

export interface Verified {
  readonly chain: Chain;
  /** Nothing here: every hash, parent and entry is right. */
  readonly problems: readonly string[];
}

/** Reads a whole chain back and checks all of it. Hashes are verified on loading. */
export async function verifyChain(store: CheckpointStore, issue: number): Promise<Verified> {
  const problems: string[] = [];
  const read = async <T>(what: () => Promise<T>): Promise<T | null> => {
    try {
      return await what();
    } catch (error) {
      if (!(error instanceof CrunchError)) throw error;
      problems.push(error.message);
      return null;
    }
  };
  const latest = await read(() => store.latest(issue));
  const index = (await read(() => store.list(issue, { removed: true }))) ?? [];
  const checkpoints = new Map<string, Checkpoint>();
  const files = new Map<string, boolean>();
  for (const { checkpoint_id: id, removed_at } of index) {
    if (removed_at !== undefined) continue;
    const checkpoint = await read(() => store.load(issue, id));
    if (!checkpoint) continue;
    checkpoints.set(id, checkpoint);
    for (const path of artifactPaths(checkpoint))
      if (!files.has(path)) files.set(path, (await store.readFile(issue, path)) !== null);
  }
  const hasFile = (path: string) => files.get(path) ?? false;
  const chain = { issue, latest, index, checkpoints, hasFile };
  return { chain, problems: [...problems, ...problemsOf(chain)] };
}
