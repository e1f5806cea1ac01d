import type { Checkpoint } from "../checkpoint/schema.js";
import type { Issue, Workspace } from "../ports.js";
import type { Recorder } from "../runtime/recorder.js";
import type { StateOf } from "../workflow/define-workflow.js";
import type { Folders } from "./folders.js";
import type { Journal } from "./journal.js";
import type { AgentPlan, PhasePlan } from "./plan.js";
import type { Session } from "./session.js";

/** What all tasks of a run on an issue share. */
export interface IssueRun {
  readonly session: Session;
  readonly journal: Journal;
  readonly folders: Folders;
  readonly recorder: Recorder<StateOf>;
  readonly issue: Pick<Issue, "number" | "url">;
  /** One task at a time adds its work to the run. */
  readonly turn: () => Promise<() => void>;
  /** What is at work; a session that has to stop waits for what it leaves. */
  readonly atWork: Set<Promise<unknown>>;
}

/** One task of a phase on an issue. */
export interface IssueTask extends IssueRun {
  readonly phase: string;
  readonly name: string;
  readonly does: string;
  readonly role: string;
  readonly kind: "work" | "vote";
  readonly agent: AgentPlan;
  readonly plan: PhasePlan;
  /** Runs the commands that make a folder ready for it. */
  setUp(workspace: Workspace, signal: AbortSignal): Promise<void>;
  /** The outputs as they were when it began. */
  readonly basis: Checkpoint["artifacts"];
  /** The gates are computed at the end of the only task; of several, after all of them. */
  readonly isOnly: boolean;
}
