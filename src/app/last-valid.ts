import type { IndexEntry } from "../checkpoint/index-entry.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore } from "../ports.js";

interface Broken {
  readonly id: string;
  readonly reason: string;
}

export interface LastValid {
  /** The newest checkpoint that can be gone back to; null when there is none. */
  readonly checkpoint: Checkpoint | null;
  /** What was found broken on the way to it. `index` and `latest` stand for those files themselves. */
  readonly broken: readonly Broken[];
}

/**
 * The newest checkpoint that loads and whose ancestors all load, too, or were taken away by retention. For when the
 * latest can't be read: goes from the end of the index backwards.
 */
export async function lastValidCheckpoint(store: CheckpointStore, issue: number): Promise<LastValid> {
  const broken: Broken[] = [];
  const entries = await reading(broken, "index", () => store.list(issue, { removed: true }));
  const judge = createJudge(store, issue, entries, broken);
  if (entries === null) {
    // Without an index there is one line to follow, from the latest to its parents.
    const latest = await reading(broken, "latest", () => store.latest(issue));
    return { checkpoint: latest && (await judge(latest.checkpoint_id)), broken };
  }
  for (const { checkpoint_id, removed_at } of entries.toReversed()) {
    const checkpoint = removed_at === undefined ? await judge(checkpoint_id) : null;
    if (checkpoint) return { checkpoint, broken };
  }
  return { checkpoint: null, broken };
}

/** Gives a checkpoint back if it and its ancestors are sound. Each is judged once, however many descend from it. */
function createJudge(
  store: CheckpointStore,
  issue: number,
  entries: readonly IndexEntry[] | null,
  broken: Broken[],
) {
  const known = new Map<string, boolean>();
  const places = new Map(entries?.map(({ checkpoint_id }, at) => [checkpoint_id, at]));

  /** The parent of a sound checkpoint (null: none), or undefined for one that is broken. */
  async function parentOf(id: string, line: ReadonlySet<string>): Promise<string | null | undefined> {
    const place = places.get(id);
    const entry = place === undefined ? undefined : entries?.[place];
    const loaded = entry?.removed_at === undefined ? await load(id) : null;
    const parent =
      entry?.removed_at === undefined ? loaded?.parent_checkpoint_id : entry.parent_checkpoint_id;
    if (parent === undefined || parent === null) return parent;
    const isBefore = entries === null ? !line.has(parent) : (places.get(parent) ?? Infinity) < (place ?? -1);
    if (isBefore) return parent;
    broken.push({ id, reason: `It names the parent ${parent}, which does not come before it.` });
    return undefined;
  }

  async function load(id: string): Promise<Checkpoint | null> {
    let isMissing = false;
    const loaded = await reading(broken, id, async () => {
      const found = await store.load(issue, id);
      isMissing = found === null;
      return found;
    });
    // Without an index nothing tells whether retention took it away.
    if (isMissing) broken.push({ id, reason: "Its file is missing." });
    return loaded;
  }

  return async function judge(id: string): Promise<Checkpoint | null> {
    const line = new Set<string>();
    let at: string | null | undefined = id;
    while (typeof at === "string" && !known.has(at)) {
      line.add(at);
      at = await parentOf(at, line);
    }
    const isSound = typeof at === "string" ? known.get(at) === true : at === null;
    for (const one of line) known.set(one, isSound);
    return isSound ? store.load(issue, id) : null;
  };
}

/** A finding about the chain becomes an entry of `broken`. A network that is down says nothing about the chain. */
async function reading<T>(broken: Broken[], id: string, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    broken.push({ id, reason: error.message });
    return null;
  }
}
