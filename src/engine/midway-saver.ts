import type { Checkpoint } from "../checkpoint/schema.js";
import { messageOf } from "../errors.js";
import type { AgentProgress, LiveAgent, Workspace } from "../ports.js";
import type { PhasePlan } from "./plan.js";
import type { Session } from "./session.js";
import { saveMidway } from "./unfinished.js";

export interface MidwaySaver {
  onProgress(progress: AgentProgress, live: LiveAgent): void;
  /** Waits for a save that is under way, and gives the checkpoint to build on. */
  settled(): Promise<Checkpoint>;
}

/** Saves a checkpoint each time an agent has reported so many steps, while it goes on working. */
export function createMidwaySaver(
  session: Session,
  claim: Checkpoint,
  phase: PhasePlan,
  options: { readonly workspace: Workspace; readonly agent: string },
): MidwaySaver {
  const { everyEvents } = session.plan.checkpoints;
  const seen: AgentProgress[] = [];
  let tip = claim;
  let saving: Promise<void> = Promise.resolve();

  async function save(live: LiveAgent): Promise<void> {
    try {
      const notes = await live.notes();
      const details = {
        ...options,
        trigger: "every_n_events" as const,
        notes,
        progress: [...seen],
        result: null,
      };
      const saved = await saveMidway(session, tip, phase, details);
      if (saved.status === "stored") tip = saved.checkpoint;
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
    async settled() {
      await saving;
      return tip;
    },
  };
}
