import type { Checkpoint } from "../checkpoint/schema.js";
import type { RefusalCode, WaitReason } from "../engine/decision.js";

/**
 * How handling an event ended, for logs, outputs and exit codes. `text` is what the people on the issue have been
 * told, as Markdown.
 */
export type Outcome =
  | { readonly status: "ignored"; readonly reason: string }
  | { readonly status: "refused"; readonly code: RefusalCode; readonly reason: string; readonly text: string }
  | { readonly status: "answered"; readonly checkpoint: Checkpoint | null; readonly text: string }
  | { readonly status: "saved"; readonly checkpoint: Checkpoint; readonly text: string }
  | {
      readonly status: "waiting";
      readonly reason: WaitReason;
      readonly checkpoint: Checkpoint;
      readonly text: string;
    }
  | {
      readonly status: "failed";
      readonly reason: string;
      readonly checkpoint: Checkpoint | null;
      readonly text: string;
    }
  | {
      readonly status: "interrupted";
      readonly reason: string;
      readonly checkpoint: Checkpoint;
      readonly text: string;
    }
  | { readonly status: "finished"; readonly checkpoint: Checkpoint; readonly text: string };

export function checkpointOf(outcome: Outcome): Checkpoint | null {
  return "checkpoint" in outcome ? outcome.checkpoint : null;
}
