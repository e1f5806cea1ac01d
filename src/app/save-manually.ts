import { nextCheckpoint } from "../checkpoint/create.js";
import { withHandled } from "../engine/events.js";
import { randomHex } from "../engine/session.js";
import { CrunchError } from "../errors.js";
import { plain } from "../render/text.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import type { Handling } from "./run-loop.js";

const mostTries = 10;

/**
 * Saves a checkpoint because a person asked for one. It may come in between those of a working session: the lease
 * stays with that session, whose next checkpoint is then put on top of this one.
 */
export async function saveManually(handling: Handling, note: string | null): Promise<Outcome> {
  const { deps, sessionId, event, store } = handling;
  for (let tries = 0; tries < mostTries; tries++) {
    const latest = await store.latest(event.issue);
    if (!latest) break;
    const { orchestrator_state: run, type, outcome, duration_ms, error, metadata } = latest;
    const change = {
      ...{ type, outcome, duration_ms, error, metadata, note, trigger: "manual" as const },
      orchestrator_state: { ...run, handled_events: withHandled(run.handled_events, event.key) },
    };
    const maker = { now: () => deps.clock.now(), randomHex, sessionId };
    const checkpoint = nextCheckpoint(latest, change, maker);
    const put = await store.put(checkpoint, { expectedParent: latest.checkpoint_id });
    if (put.status !== "stored") continue;
    const about = note === null ? "" : ` (${plain(note)})`;
    const text = `Saved as \`${checkpoint.checkpoint_id}\`${about}.`;
    await replyOnce(deps, event.issue, event.key, text);
    return { status: "saved", checkpoint, text };
  }
  throw new CrunchError({
    code: "checkpoint_contended",
    message: "The checkpoint could not be saved: others kept storing theirs first.",
    hint: "Comment `/crunch --checkpoint` again.",
  });
}
