import type { IndexEntry } from "../../checkpoint/index-entry.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import type { CheckpointStore } from "../../ports.js";
import { lastValidCheckpoint } from "../last-valid.js";
import { noRun } from "./context.js";

/** A checkpoint that is sound, or an error that says which one can be gone back to instead. */
export async function load(store: CheckpointStore, issue: number, id: string): Promise<Checkpoint> {
  let found: Checkpoint | null;
  try {
    found = id === "latest" ? await store.latest(issue) : await store.load(issue, id);
  } catch (error) {
    if (!(error instanceof CrunchError) || error.code === "checkpoint_id_invalid") throw error;
    throw await withWayOut(store, issue, error);
  }
  if (found) return found;
  const newest = (await store.list(issue)).slice(-10).reverse();
  if (newest.length === 0) throw noRun(issue);
  throw new CrunchError({
    code: "checkpoint_unknown",
    message: `Issue ${issue} has no checkpoint ${id}.`,
    hint: `The newest are ${newest.map(({ checkpoint_id }) => checkpoint_id).join(", ")}.`,
  });
}

async function withWayOut(store: CheckpointStore, issue: number, error: CrunchError): Promise<CrunchError> {
  const { checkpoint } = await lastValidCheckpoint(store, issue);
  const { code, message } = error;
  const hint = checkpoint
    ? `The newest sound checkpoint is ${checkpoint.checkpoint_id}. Restore the files of those after it, or go on from there.`
    : "No checkpoint of this chain is sound. Restore its files from a copy.";
  return new CrunchError({ code, message, hint, cause: error });
}

/**
 * The checkpoints of one run, by default of the latest. The index does not name the runs, but they lie one after
 * another: so a few checkpoints have to be loaded to find where each begins, not all of them.
 */
export async function listForRun(
  store: CheckpointStore,
  issue: number,
  runId: string | undefined,
): Promise<readonly IndexEntry[]> {
  const runAt = async (entry: IndexEntry) =>
    (await load(store, issue, entry.checkpoint_id)).orchestrator_state.run_id;
  let entries = await store.list(issue);
  for (let last = entries.at(-1); last; last = entries.at(-1)) {
    const run = await runAt(last);
    const start = await firstWhere(entries, async (entry) => (await runAt(entry)) === run);
    if (runId === undefined || run === runId) return entries.slice(start);
    entries = entries.slice(0, start);
  }
  return [];
}

/** The place of the first that holds, where all after it hold too, and the last does. */
async function firstWhere<T>(list: readonly T[], holds: (one: T) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = list[middle];
    if (one !== undefined && (await holds(one))) high = middle;
    else low = middle + 1;
  }
  return high;
}
