import { type CheckpointChange, nextCheckpoint } from "../checkpoint/create.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { withHandled } from "../engine/events.js";
import { isHeldByAnother } from "../engine/lease.js";
import { randomHex } from "../engine/session.js";
import { CrunchError } from "../errors.js";
import type { PutOptions } from "../ports.js";
import { readLatest } from "./mend.js";
import type { Handling } from "./run-loop.js";

const mostTries = 10;

export interface Addition {
  readonly change: CheckpointChange;
  /** For a rollback, which goes back to another parent than the latest. */
  readonly parent?: string;
  /** It may come in between the checkpoints of whoever works on the run. */
  readonly isBeside?: boolean;
  readonly options?: Omit<PutOptions, "expectedLatest">;
}

/**
 * Adds a checkpoint that a person asked for on top of whatever is the latest. It may come in between those of a
 * working session, whose next one is then put on top of it. Null when there is no chain; `held` when somebody has begun
 * to work on the run meanwhile; `void` when the addition itself makes no sense on top of what is the latest by then.
 */
export async function append(
  handling: Handling,
  addition: (latest: Checkpoint) => Promise<Addition | "void">,
): Promise<Checkpoint | "held" | "void" | null> {
  const { deps, sessionId, event, store } = handling;
  const maker = { now: () => deps.clock.now(), randomHex, sessionId };
  for (let tries = 0; tries < mostTries; tries++) {
    const latest = await readLatest(store, deps.code, event);
    if (!latest) return null;
    const added = await addition(latest);
    if (added === "void") return added;
    const { change, parent, options, isBeside = false } = added;
    // Anything else would take the run away from whoever works.
    const isHeld = await isHeldByAnother(latest, sessionId, deps.clock, deps.liveness);
    if (isHeld && !isBeside) return "held";
    const run = change.orchestrator_state ?? latest.orchestrator_state;
    const orchestrator_state = { ...run, handled_events: withHandled(run.handled_events, event.key) };
    const next = nextCheckpoint(latest, { ...change, orchestrator_state }, maker);
    const checkpoint = parent === undefined ? next : { ...next, parent_checkpoint_id: parent };
    const { retention } = handling.loaded.plan;
    const put = await store.put(checkpoint, { ...options, retention, expectedLatest: latest.checkpoint_id });
    if (put.status === "stored") return checkpoint;
  }
  throw new CrunchError({
    code: "checkpoint_contended",
    message: "The checkpoint could not be saved: others kept storing theirs first.",
    hint: "Give the command again.",
  });
}
