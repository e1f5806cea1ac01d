import type { StorageOptions } from "../../src/checkpoint/storage-options.js";
import type { CheckpointStore } from "../../src/ports.js";

/** A store under test, empty, with what a test needs besides the port. What is left out is not tested. */
export interface OpenStore {
  readonly store: CheckpointStore;
  readonly storage: StorageOptions;
  /** Another store object over the same data, as another process would have it, or with other options. */
  reopen(storage?: Partial<StorageOptions>): CheckpointStore;
  close(): Promise<void>;
  /** The bytes of a file of the issue's folder, read behind the store's back. */
  read?(issue: number, path: string): Promise<Buffer | null>;
  /** Puts other bytes in a file's place, behind the store's back. */
  corrupt?(issue: number, path: string, bytes: Buffer): Promise<void>;
  /** The git mode of a file of the issue's folder. */
  mode?(issue: number, path: string): Promise<string | null>;
  /** How often the store has reached out so far: requests, system calls. */
  operations?(): number;
  /** How long a history it takes in a test's time. */
  readonly longHistory: number;
}
