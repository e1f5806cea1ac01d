import type { Command } from "../commands/command.js";
import { knownStateLabels, phaseOfLabel, stateLabel } from "../workflow/labels.js";
import { phasesInOrder } from "../workflow/workflow.js";
import type { Decision } from "./decision.js";
import { goOn, isQuestionOver, sleepingPhases } from "./go-on.js";
import { refuse } from "./refuse.js";
import { currentStanding, phasesOf, type Situation } from "./situation.js";
import { pendingPhases, phasesFrom } from "./standing.js";

type Resume = Extract<Command, { name: "resume" }>;

/** `/crunch` and `/crunch resume`: begins, goes on, or tries again what failed. */
export function onResume(situation: Situation, options: Resume | null): Decision {
  const { workflow, issue, latest, isHeld } = situation;
  if (options?.isDryRun) {
    if (!latest) return refuse("nothing_to_resume", "no run has begun on this issue");
    return { kind: "preview", id: options.checkpoint };
  }
  if (!issue.isOpen) return refuse("issue_closed", "the issue is closed");
  if (isHeld) return refuse("busy", "a session is working on it");
  if (!latest)
    return options ? refuse("nothing_to_resume", "no run has begun on this issue") : beginAnew(situation);
  if (options?.checkpoint && options.checkpoint !== latest.checkpoint_id) {
    return { kind: "rollback", id: options.checkpoint, goesOn: true };
  }
  const phases = phasesOf(situation);
  const standing = currentStanding(situation);
  const canGoOn = isQuestionOver(situation) || sleepingPhases(phases).length > 0;
  if (standing.kind === "waiting_for_person" && !canGoOn) {
    const how =
      standing.next === null
        ? "the comment that shows the status has the question and the comments that answer it"
        : `to approve, comment \`/crunch approve\` or add the label \`${stateLabel(standing.next)}\``;
    return refuse("waiting_for_person", how);
  }
  const { movedTo } = situation;
  if (movedTo !== null) return goOn(situation, phasesFrom(workflow, phases, movedTo), movedTo);
  if (standing.kind === "failed") {
    const decision = goOn(situation, phasesFrom(workflow, phases, standing.phase), standing.phase);
    return decision.kind === "run" ? { ...decision, again: true } : decision;
  }
  return goOn(situation, phases, standing.phase);
}

/** With a label on the issue the run begins there; of several, at the earliest. */
function beginAnew(situation: Situation): Decision {
  const { workflow, issue } = situation;
  const labeled = knownStateLabels(workflow, issue.labels).map((label) => phaseOfLabel(workflow, label));
  const first = phasesInOrder(workflow).find(
    ({ name, type }) => type !== "terminal" && labeled.includes(name),
  );
  const phase = first?.name ?? workflow.first;
  return goOn(situation, phasesFrom(workflow, pendingPhases(workflow), phase), phase);
}
