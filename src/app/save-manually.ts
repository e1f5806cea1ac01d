import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import { plain } from "../markdown.js";
import { append } from "./append.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import type { Handling } from "./run-loop.js";

/** Saves a checkpoint because a person asked for one; of the state it is in, with the lease where it is. */
export async function saveManually(handling: Handling, note: string | null): Promise<Outcome> {
  const checkpoint = await append(handling, async (latest) => {
    const { type, outcome, duration_ms, error, metadata, pause, partial_work, progress } = latest;
    const kept = { type, outcome, duration_ms, error, metadata, pause, partial_work, progress };
    return { isBeside: true, change: { ...kept, note, trigger: "manual" } };
  });
  if (!checkpoint || checkpoint === "held" || checkpoint === "void") {
    throw new CrunchError({
      code: "chain_gone",
      message: "The checkpoints of this issue are gone.",
      hint: "Restore the storage branch, or comment `/crunch restart` to begin again.",
    });
  }
  const text = savedText(checkpoint);
  await replyOnce(handling.deps, handling.event.issue, handling.event.key, text);
  return { status: "saved", checkpoint, text };
}

/** What the person who asked for it is told. */
export function savedText({ checkpoint_id: id, note }: Checkpoint): string {
  const about = note === null ? "" : ` (${plain(note)})`;
  return `Saved as \`${id}\`${about}.`;
}
