import type { Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";
import { taskKey } from "../workflow/replay.js";
import { onlyTask } from "./plan.js";

/** What a run carries from checkpoint to checkpoint besides what its events say. */
export type Carried = Pick<
  Checkpoint,
  | "issue_snapshot"
  | "team_state"
  | "agent_states"
  | "agent_outputs"
  | "acp_state"
  | "files_modified"
  | "artifacts"
  | "notes"
  | "governance_results"
  | "acceptance_criteria"
  | "projections"
>;

/** What a task leaves at its end. It counts together with the event that says so. */
export interface Ending {
  readonly change: (run: Carried) => Partial<Carried>;
  readonly files: readonly FileChange[];
  readonly unfinished: Unfinished | null;
  readonly own: Partial<Own>;
  /** The paths that it changed, in the repo and in the issue's folder. */
  readonly paths: readonly string[];
  /** What it came to, as JSON; null when it failed. */
  readonly output: string | null;
  readonly release: () => void;
}

/** What belongs to one checkpoint alone. */
export type Own = Pick<Checkpoint, "note" | "metadata" | "duration_ms">;
export const nothing: Own = { note: null, metadata: {}, duration_ms: 0 };

export interface JournalStart {
  readonly issue: number;
  readonly latest: Checkpoint | null;
  /** It takes nothing over from the latest. */
  readonly isNewRun: boolean;
  readonly carried: Carried;
  readonly eventKey: string;
  readonly actor: string;
}

/** Work of a task that has not ended: its files so far, and what it reported. */
export type Unfinished = Pick<Checkpoint, "partial_work" | "progress">;

export function saidBy(response: string): string {
  if (response === "approve") return "approved";
  return response === "reject" ? "rejected" : "answered";
}

/** A checkpoint of old does not name the task: then it is the only one of its phase. */
export function unfinishedOf(latest: Checkpoint | null): Map<string, Unfinished> {
  const found = new Map<string, Unfinished>();
  if (!latest) return found;
  const only = taskKey(latest.workflow_state.current_phase, onlyTask);
  const of = (task: string) => {
    const known = found.get(task) ?? { partial_work: [], progress: [] };
    found.set(task, known);
    return known;
  };
  for (const { task = only, ...file } of latest.partial_work) of(task).partial_work.push(file);
  for (const { task = only, ...line } of latest.progress) of(task).progress.push(line);
  return found;
}

/** What people on the issue can do about an error, where it was not said by what threw it. */
export function withHint(error: NonNullable<Checkpoint["error"]>): NonNullable<Checkpoint["error"]> {
  const known: Readonly<Record<string, string>> = {
    gave_up: "Look at the log of the runner, then comment `/crunch` to try again.",
    too_often: "Look at why it goes round, then comment `/crunch` to let it go on.",
    tasks_failed: "Comment `/crunch` to try those again; what the others did is kept.",
  };
  const hint = known[error.code] ?? error.hint;
  return { ...error, hint: hint === "" ? "Comment `/crunch` to try again." : hint };
}
