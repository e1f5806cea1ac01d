import type { Checkpoint } from "../checkpoint/schema.js";
import type { CrunchEvent } from "../engine/events.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore, CodeHost } from "../ports.js";
import { lastValidCheckpoint } from "./last-valid.js";

/** Whether an error says that the chain's own files are not what Crunch wrote. */
function isBrokenChain(error: unknown): error is CrunchError {
  return (
    error instanceof CrunchError && /^(checkpoint|index)_(?!contended|too_large|id_taken)/.test(error.code)
  );
}

/** The same error, with the newest checkpoint that can still be gone back to. */
async function withWayOut(store: CheckpointStore, issue: number, error: CrunchError): Promise<CrunchError> {
  const { checkpoint } = await lastValidCheckpoint(store, issue);
  if (!checkpoint) return error;
  const { code, message, cause } = error;
  const id = checkpoint.checkpoint_id;
  const hint = `The newest checkpoint that can be read is \`${id}\` of ${checkpoint.created_at}. Comment \`/crunch rollback ${id}\` to go back to it.`;
  return new CrunchError({ code, message, hint, cause });
}

/**
 * The latest checkpoint. Where it can't be read, a rollback to one that can still goes on, from a stand-in; anything
 * else is told which one that is.
 */
export async function readLatest(
  store: CheckpointStore,
  code: CodeHost,
  event: CrunchEvent,
): Promise<Checkpoint | null> {
  try {
    return await store.latest(event.issue);
  } catch (error) {
    if (!isBrokenChain(error)) throw error;
    const isRollback = event.kind === "command" && event.command.name === "rollback";
    const target = isRollback
      ? await store.load(event.issue, event.command.checkpoint).catch(() => null)
      : null;
    const instead = target && (await standIn(store, code, target));
    if (instead) return instead;
    throw await withWayOut(store, event.issue, error);
  }
}

/**
 * A stand-in for a latest checkpoint that can't be read: nothing of what it held is known, so that a rollback puts
 * back all that its target had.
 */
async function standIn(
  store: CheckpointStore,
  code: CodeHost,
  target: Checkpoint,
): Promise<Checkpoint | null> {
  const end = (await store.list(target.issue_number, { removed: true })).at(-1);
  if (!end) return null;
  const { branch } = target.issue_snapshot;
  const tip = branch === null ? null : await code.head(branch);
  return {
    ...target,
    checkpoint_id: end.checkpoint_id,
    sequence: end.sequence ?? target.sequence,
    lease: null,
    artifacts: {},
    notes: {},
    issue_snapshot: { ...target.issue_snapshot, head_sha: tip?.sha ?? null },
  };
}
