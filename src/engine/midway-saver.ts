import { messageOf } from "../errors.js";
import type { AgentProgress, LiveAgent, Workspace } from "../ports.js";
import type { IssueTask } from "./issue-task.js";
import { keepUnfinished } from "./unfinished.js";

export interface MidwaySaver {
  onProgress(progress: AgentProgress, live: LiveAgent): void;
  /** Waits for a save that is under way. */
  settled(): Promise<void>;
}

/** Saves a checkpoint each time an agent has reported so many steps, while it goes on working. */
export function createMidwaySaver(task: IssueTask, workspace: Workspace): MidwaySaver {
  const { session, recorder, phase } = task;
  const { everyEvents } = session.plan.checkpoints;
  const seen: AgentProgress[] = [];
  let saving: Promise<void> = Promise.resolve();

  async function save(live: LiveAgent): Promise<void> {
    try {
      await keepUnfinished(task, workspace, { notes: await live.notes(), progress: [...seen] });
      await recorder.save({ type: "PRE", trigger: "every_n_events", outcome: null, phase });
    } catch (error) {
      // The agent's work is worth more than this save: the next one, or the end of the phase, makes up for it.
      session.log.warn(`a checkpoint in between could not be saved: ${messageOf(error)}`);
    }
  }

  return {
    onProgress(progress, live) {
      seen.push(progress);
      if (everyEvents === null || seen.length % everyEvents !== 0) return;
      saving = saving.then(() => save(live));
    },
    settled: () => saving,
  };
}
