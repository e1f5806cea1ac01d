import type { Checkpoint } from "../checkpoint/schema.js";
import type { Issue } from "../ports.js";
import type { Step } from "./decision.js";
import type { CrunchEvent } from "./events.js";

/** What a session on an issue begins with. */
export interface IssueStart {
  readonly event: CrunchEvent;
  readonly actor: string;
  readonly step: Step;
  readonly latest: Checkpoint | null;
  readonly issue: Issue;
  /** Where the code branch was seen a moment ago, which saves looking again. */
  readonly branchSeen: string | undefined;
}
