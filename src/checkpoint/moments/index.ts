import type { CheckpointChange } from "../create.js";
import type { Checkpoint } from "../schema.js";
import { beforeHuman, phaseStart } from "./begin.js";
import { conflictResolved, conflictStart } from "./conflicts.js";
import { approval, phaseFailure, phaseTransition } from "./end.js";
import { withFindings } from "./findings.js";
import { rollback } from "./go-back.js";
import type { Moment } from "./moment.js";
import type { Run } from "./run.js";
import { manual, paused, stopped } from "./stop.js";
import { agentComplete, batchComplete, everyNEvents } from "./within.js";

/**
 * What the checkpoint of a moment says anew, from the latest one and from what happened. Does nothing itself; a moment
 * that can't have come after the latest checkpoint is refused with the reason.
 */
export function changeFor(latest: Checkpoint, moment: Moment, now: string): CheckpointChange {
  return told(latest, moment, (run) => ownChange(run, moment, now));
}

/** As changeFor(), for the first checkpoint of a run. */
export function firstChange(run: Run, moment: Moment<"phase_start">, now: string): CheckpointChange {
  return told(run, moment, (found) => phaseStart(found, moment, now));
}

/** The moment works on what the run knows by then, and what it says itself has the last word. */
function told<T extends Run>(run: T, moment: Moment, make: (run: T) => CheckpointChange): CheckpointChange {
  const findings = withFindings(run, moment);
  const own = make({ ...run, ...findings, metadata: run.metadata });
  return { ...findings, ...own, ...asked(findings, own) };
}

/** What is asked to be kept is kept beside what the moment itself has to say. */
function asked(findings: Partial<CheckpointChange>, own: CheckpointChange): Partial<CheckpointChange> {
  const { partial_work, progress, files_modified, metadata } = findings;
  return {
    ...(partial_work && { partial_work }),
    ...(progress && { progress }),
    ...(files_modified && { files_modified }),
    ...(metadata && { metadata: { ...own.metadata, ...metadata } }),
  };
}

function ownChange(run: Checkpoint, moment: Moment, now: string): CheckpointChange {
  switch (moment.trigger) {
    case "phase_start":
      return phaseStart(run, moment, now);
    case "phase_transition":
      return phaseTransition(run, moment, now);
    case "phase_failure":
      return phaseFailure(run, moment, now);
    case "batch_complete":
      return batchComplete(run, moment, now);
    case "agent_complete":
      return agentComplete(run, moment, now);
    case "conflict_start":
      return conflictStart(run, moment);
    case "conflict_resolved":
      return conflictResolved(run, moment);
    case "user_interrupt":
    case "session_end":
      return stopped(run, moment.trigger);
    case "manual":
      return manual(run);
    case "approval":
      return approval(run, moment);
    case "rollback":
      return rollback(run, moment);
    case "before_human":
      return beforeHuman(run, moment, now);
    case "pause":
      return paused(run, moment);
    case "every_n_events":
      return everyNEvents(run);
  }
}
