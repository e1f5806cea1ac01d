import type { Checkpoint } from "../checkpoint/schema.js";
import type { Issue } from "../ports.js";
import { knownStateLabels } from "../workflow/labels.js";
import { beginStep, type StepStart } from "./begin-step.js";
import type { Step } from "./decision.js";
import { runPhase } from "./run-phase.js";
import type { Committed, Session } from "./session.js";

/** Carries out one step of a run: claims and runs a phase, or records that it is passed, asked, approved or given up. */
export async function takeStep(session: Session, step: Step, options: StepStart): Promise<Committed> {
  const begun = await beginStep(session, step, options);
  if (begun.status === "gave_way" || step.kind !== "run") return begun;
  const { checkpoint } = begun;
  const { issue_number: issue, workflow_state: state, checkpoint_id: id } = checkpoint;
  const fields = { event: "phase_started", issue, phase: step.phase, attempt: state.phase_attempt, id };
  session.log.info(`${step.phase} begins`, fields);
  if (isShown(session, checkpoint, options))
    return runPhase(session, checkpoint, asClaimed(checkpoint, options.issue));
  const shown = await session.projector.project(checkpoint, { issue: options.issue, label: "set" });
  const known = { ...checkpoint, projections: shown.projections };
  return runPhase(session, known, asClaimed(checkpoint, shown.issue));
}

/** The agent gets the text that the claim was made with, not what somebody may have made of it since. */
function asClaimed({ issue_snapshot: { title, body } }: Checkpoint, issue: Issue): Issue {
  return { ...issue, title, body };
}

/** The end of the phase before has announced this one, unless it is a first, a further attempt or a jump. */
function isShown(session: Session, checkpoint: Checkpoint, { latest, issue }: StepStart): boolean {
  const labels = knownStateLabels(session.plan.workflow, issue.labels);
  const isLabelRight = labels.length === 1 && labels[0] === checkpoint.workflow_state.current_state_label;
  const isAnnounced = latest?.session_id === session.id && latest.type === "POST" && latest.error === null;
  return isAnnounced && isLabelRight;
}
