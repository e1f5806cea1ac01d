import type { Checkpoint, Trigger } from "../checkpoint/schema.js";
import { renderRollback } from "../render/rollback.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import { type Handling, showNow } from "./run-loop.js";
import { savedText } from "./save-manually.js";

/** How far back the checkpoint of an event that is delivered again is looked for. */
const mostLookedAt = 10;

/**
 * A rollback or a save by hand that is asked for again was made before; but whoever made it may have died before
 * anybody could see it. Shows and says it once more, which doubles nothing.
 */
export async function showAgain(handling: Handling): Promise<Outcome> {
  const { deps, event, loaded } = handling;
  const made = await madeFor(handling);
  const text = made && (await textOf(handling, made));
  if (!made || text === null) return { status: "ignored", reason: "done before" };
  const isLatest = made.checkpoint_id === loaded.latest?.checkpoint_id;
  // What came later has been shown since. A label that a person took off meanwhile stays off.
  if (isLatest && made.trigger === "rollback") await showNow(handling, made, loaded.issue, "keep");
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "answered", checkpoint: made, text };
}

/** The checkpoint that was made when the event was first delivered: the one that heard of it last. */
async function madeFor({ event, loaded, store }: Handling): Promise<Checkpoint | null> {
  const trigger = triggerOf(event);
  if (trigger === null) return null;
  const isIt = ({ trigger: own, orchestrator_state: { handled_events: heard } }: Checkpoint) =>
    own === trigger && heard.at(-1) === event.key;
  if (loaded.latest && isIt(loaded.latest)) return loaded.latest;
  const entries = (await store.list(event.issue)).filter((entry) => entry.trigger === trigger);
  for (const { checkpoint_id } of entries.slice(-mostLookedAt).reverse()) {
    const checkpoint = await store.load(event.issue, checkpoint_id);
    if (checkpoint && isIt(checkpoint)) return checkpoint;
  }
  return null;
}

function triggerOf(event: Handling["event"]): Trigger | null {
  if (event.kind !== "command") return null;
  if (event.command.name === "rollback") return "rollback";
  return event.command.name === "checkpoint" ? "manual" : null;
}

async function textOf({ event, store }: Handling, made: Checkpoint): Promise<string | null> {
  if (made.trigger === "manual") return savedText(made);
  const { rollback_to: to, rollback_from: undo } = made.metadata;
  const target = typeof to === "string" ? await store.load(event.issue, to) : null;
  return target && typeof undo === "string" ? renderRollback({ target, checkpoint: made, undo }) : null;
}
