import { z } from "zod";
import { CheckpointId } from "./id.js";

const Text = z.string();
const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();

export const Failure = z.strictObject({ code: Text, message: Text });
export type Failure = z.infer<typeof Failure>;

export const PhaseStatus = z.enum(["pending", "running", "waiting", "succeeded", "failed", "skipped"]);
export type PhaseStatus = z.infer<typeof PhaseStatus>;

/** Where one phase of the run stands. `version` counts the times it was begun anew after it had ended. */
export const PhaseState = z.strictObject({
  status: PhaseStatus,
  attempt: Count,
  /** How many of the attempts were stopped on purpose: those did not die. */
  stops: Count.optional(),
  version: Count,
  checkpoint_id: CheckpointId.nullable(),
  /** Where it led when it ended, if not where it always does. */
  next: z.array(Text).optional(),
  /** It begins without waiting for those before it. */
  due: z.boolean().optional(),
  /** How often it failed and was tried again since it began, and when the next try may begin. */
  retries: Count.optional(),
  retry_at: Time.optional(),
  /** How often it was begun since a person last sent the run to it; its version, if nobody did. */
  visits: Count.optional(),
  /** Why it failed the last time. */
  failure: Failure.optional(),
});
export type PhaseState = z.infer<typeof PhaseState>;
