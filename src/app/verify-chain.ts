import { type Chain, problemsOf } from "../checkpoint/invariants.js";
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
  const index = (await read(() => store.list(issue))) ?? [];
  const checkpoints = new Map<string, Checkpoint>();
  for (const { checkpoint_id: id } of index) {
    const checkpoint = await read(() => store.load(issue, id));
    if (checkpoint) checkpoints.set(id, checkpoint);
  }
  const chain = { issue, latest, index, checkpoints };
  return { chain, problems: [...problems, ...problemsOf(chain)] };
}
