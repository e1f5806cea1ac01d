import type { Freshness, StaleKind, World } from "../../checkpoint/freshness.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import type { FileChange } from "../../ports.js";

export interface ResumeOptions {
  /** Where to go on from; the latest where it is left out. An older one is rolled back to. */
  readonly checkpoint?: string;
  /** The issue and its code as they are now. Without it nobody looks whether they have changed. */
  readonly world?: World;
  /** The kinds of change that a person has seen and is fine with. */
  readonly accept?: readonly StaleKind[];
  /** Tells what would be, and stores nothing. */
  readonly dryRun?: boolean;
}

export interface Reason {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface Resumable {
  readonly status: "resumable";
  /** The latest checkpoint by now. In a dry run the one that would be gone on from. */
  readonly checkpoint: Checkpoint;
  readonly phase: string;
  /** Whether the phase has been taken up, is still to be begun, or waits for a person. */
  readonly standing: "running" | "next" | "waiting";
  /** What was running is to be done again. */
  readonly graph: Checkpoint["execution_graph"];
  /** What is to be done, without what is complete; each batch needs only those before it. */
  readonly batches: readonly (readonly string[])[];
  /** `batch_3_task_1`; null when no task is left. */
  readonly resumeFrom: string | null;
  readonly warnings: readonly string[];
  /** What an earlier attempt had changed in the repo and not finished, to be put back. */
  readonly unfinished: readonly FileChange[];
  /** Files of the folder that got their old content, and that were taken away, by a rollback. */
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  /** The commit whose files the code has to have again, which is left to the caller; null when it can stay. */
  readonly codeTreeOf: string | null;
}

export type Resumption =
  | Resumable
  /** The world has changed in a way that a person has to be asked about. Nothing was stored. */
  | { readonly status: "stale"; readonly checkpoint: Checkpoint; readonly freshness: Freshness }
  | {
      readonly status: "not_resumable";
      readonly reasons: readonly Reason[];
      readonly freshness: Freshness | null;
    };
