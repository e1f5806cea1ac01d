import type { Checkpoint } from "../checkpoint/schema.js";
import type { Outcome } from "./outcome.js";
import { carryOutRefusal } from "./replies.js";
import type { Handling } from "./run-loop.js";

const mostListed = 10;

export type Found =
  | { readonly status: "found"; readonly checkpoint: Checkpoint }
  | { readonly status: "refused"; readonly outcome: Outcome };

/** A checkpoint that a person named, or the answer that there is none, with those that there are. */
export async function findCheckpoint(handling: Handling, id: string): Promise<Found> {
  const { deps, event, store, loaded } = handling;
  if (loaded.latest && (id === "latest" || id === loaded.latest.checkpoint_id)) {
    return { status: "found", checkpoint: loaded.latest };
  }
  const checkpoint = await store.load(event.issue, id);
  if (checkpoint) return { status: "found", checkpoint };
  const newest = (await store.list(event.issue)).slice(-mostListed).reverse();
  const listed = newest.map((entry) => `\`${entry.checkpoint_id}\``).join(", ");
  const outcome = await carryOutRefusal(deps, event, {
    kind: "refuse",
    code: "unknown_checkpoint",
    detail: `there is no checkpoint \`${id}\` on this issue; the newest are ${listed}`,
    removeLabel: null,
    restoreLabel: null,
  });
  return { status: "refused", outcome };
}
