import type { Checkpoint } from "../checkpoint/schema.js";

/**
 * What surrounds a run that people follow and steer. With one, a phase's end and the next one's start are two
 * checkpoints.
 */
export interface RunHost {
  /** A phase has ended, waits or is about to begin, and the checkpoint says so. */
  saved(checkpoint: Checkpoint): Promise<void>;
  /** Whether new phases may begin now. */
  mayBegin(): Promise<boolean>;
  /** Told to stop: resolves when all that was at work has left what it has. */
  stopped(): Promise<void>;
  stopTrigger(): "session_end" | "user_interrupt";
  /** Whether the end of a batch is worth a checkpoint; the phase may end with it. */
  savesBatch(isLast: boolean): boolean;
}
