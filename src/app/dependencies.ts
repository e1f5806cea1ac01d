import type { Holder } from "../checkpoint/schema.js";
import type { StorageOptions } from "../checkpoint/storage-options.js";
import type {
  CheckpointStore,
  CheckReporter,
  Clock,
  CodeHost,
  CommandRunner,
  IssueTracker,
  LivenessProbe,
  Log,
  WorkspaceProvider,
} from "../ports.js";
import type { Authority } from "./plan.js";
import type { Slots } from "./slots.js";

/** What handling the events of one repo takes. The entries make it; nothing below knows where it came from. */
export interface Dependencies {
  /** `owner/name` */
  readonly repository: string;
  readonly tracker: IssueTracker;
  readonly code: CodeHost;
  readonly checks: CheckReporter;
  readonly workspaces: WorkspaceProvider;
  readonly commands: CommandRunner;
  readonly liveness: LivenessProbe;
  /** A file of the default branch, as it is now. */
  readonly readFile: (path: string) => Promise<string | null>;
  readonly openStore: (branchTemplate: string, storage: StorageOptions) => CheckpointStore;
  readonly authority: Authority;
  readonly holder: Holder;
  /** How many runs work at the same time. */
  readonly slots: Slots;
  readonly redact: (text: string) => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}
