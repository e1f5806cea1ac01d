import { isStateLabel, knownStateLabels, phaseOfLabel, stateLabel } from "../workflow/labels.js";
import { phaseNamed, phasesInOrder } from "../workflow/workflow.js";
import type { Decision } from "./decision.js";
import { goOn } from "./go-on.js";
import { ifStillAsked } from "./if-fresh.js";
import { refuse } from "./refuse.js";
import { phasesOf, type Situation } from "./situation.js";
import { labelFor, phasesFrom, readyPhases, standingOf } from "./standing.js";

export function onLabel(situation: Situation, label: string, actor: string): Decision {
  const { workflow, issue, latest, isHeld } = situation;
  if (!isStateLabel(label)) return { kind: "ignore", reason: `${label} is not a state label` };
  if (!issue.labels.includes(label)) return { kind: "ignore", reason: `${label} is no longer on the issue` };
  const phase = phaseOfLabel(workflow, label);
  if (phase === null) {
    const known = phasesInOrder(workflow).map((each) => `\`${stateLabel(each.name)}\``);
    return refuse("unknown_label", `the workflow ${workflow.name} knows ${known.join(", ")}`);
  }
  if (!issue.isOpen) return refuse("issue_closed", "the issue is closed", label);
  const standing = latest ? standingOf(workflow, phasesOf(situation), situation.advance) : null;
  if (isHeld) {
    if (standing?.phase === phase) return { kind: "ignore", reason: `${phase} is running already` };
    return refuse("busy", `\`${standing?.phase ?? "another phase"}\` is running`, label);
  }
  if (phaseNamed(workflow, phase).type === "terminal") {
    if (standing?.kind === "finished") return { kind: "finish" };
    return refuse("terminal_label", "Crunch sets it when every phase has ended", label);
  }
  if (standing?.kind === "waiting_for_person" && standing.next === phase) {
    const approval = {
      kind: "approve",
      phase: standing.phase,
      phases: phasesOf(situation),
      by: actor,
    } as const;
    return ifStillAsked(situation, approval);
  }
  const isNext =
    (standing?.kind === "next" || standing?.kind === "waiting_for_label") &&
    readyPhases(workflow, phasesOf(situation)).includes(phase);
  return goOn(
    situation,
    isNext ? phasesOf(situation) : phasesFrom(workflow, phasesOf(situation), phase),
    phase,
  );
}

export function onUnlabeled(situation: Situation, label: string): Decision {
  const { workflow, issue, latest, isHeld } = situation;
  if (!latest || isHeld) return { kind: "ignore", reason: "seen when the running phase ends" };
  if (knownStateLabels(workflow, issue.labels).length > 0)
    return { kind: "ignore", reason: "a state label is left" };
  const standing = standingOf(workflow, phasesOf(situation), situation.advance);
  if (standing.kind === "finished") return { kind: "ignore", reason: "the run is over" };
  if (labelFor(standing) !== label) return { kind: "ignore", reason: `${label} was not the current one` };
  return { kind: "wait", reason: "label_removed" };
}
