import { type CheckpointChange, type Maker, nextCheckpoint } from "../../checkpoint/create.js";
import type { Layout } from "../../checkpoint/layout.js";
import type { RetentionPolicy } from "../../checkpoint/retention.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";

export interface ServiceContext {
  readonly store: CheckpointStore;
  readonly layout: Layout;
  readonly retention: RetentionPolicy;
  readonly maker: Maker;
}

/** What a checkpoint adds to a chain. */
export interface Addition {
  readonly change: CheckpointChange;
  /** For a rollback, whose parent is not the latest. */
  readonly parent?: string;
  readonly options?: Omit<PutOptions, "expectedLatest" | "retention">;
}

const mostTries = 20;

/**
 * Stores a checkpoint on top of the latest. When another writer came first it is made anew, from theirs: what happened
 * may no longer be possible after what they stored, and is refused then.
 */
export async function add(
  context: ServiceContext,
  issue: number,
  addition: (latest: Checkpoint) => Addition | Promise<Addition>,
): Promise<Checkpoint> {
  return storeNext(context, issue, async (latest) => {
    if (!latest) throw noRun(issue);
    const { change, parent, options } = await addition(latest);
    const next = nextCheckpoint(latest, change, context.maker);
    const checkpoint = parent === undefined ? next : { ...next, parent_checkpoint_id: parent };
    return { checkpoint, options };
  });
}

/** As add(), for chains that may not have begun yet. */
export async function storeNext(
  { store, retention }: ServiceContext,
  issue: number,
  make: (
    latest: Checkpoint | null,
  ) => Promise<{ readonly checkpoint: Checkpoint; readonly options?: Addition["options"] | undefined }>,
): Promise<Checkpoint> {
  for (let tries = 0; tries < mostTries; tries++) {
    const latest = await store.latest(issue);
    const { checkpoint, options } = await make(latest);
    const expectedLatest = latest?.checkpoint_id ?? null;
    const put = await unlessTaken(store.put(checkpoint, { ...options, retention, expectedLatest }));
    if (put?.status === "stored") return checkpoint;
  }
  throw new CrunchError({
    code: "checkpoint_contended",
    message: "The checkpoint could not be stored: others kept storing theirs first.",
    hint: "Try again.",
  });
}

/** An id is short, so it may be taken: then the checkpoint gets another one. */
async function unlessTaken(put: Promise<PutResult>): Promise<PutResult | null> {
  try {
    return await put;
  } catch (error) {
    if (error instanceof CrunchError && error.code === "checkpoint_id_taken") return null;
    throw error;
  }
}

export function noRun(issue: number): CrunchError {
  return new CrunchError({
    code: "no_run",
    message: `No run has begun on issue ${issue}.`,
    hint: "Begin one first.",
  });
}
