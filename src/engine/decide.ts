import type { Checkpoint } from "../checkpoint/schema.js";
import { commands } from "../commands/index.js";
import type { Issue, Permission } from "../ports.js";
import { isStateLabel, knownStateLabels, phaseOfLabel, stateLabel } from "../workflow/labels.js";
import { phaseNamed, phasesInOrder, type Workflow } from "../workflow/workflow.js";
import { type Decision, isStep, type Obstacle, type RefusalCode } from "./decision.js";
import type { CrunchEvent } from "./events.js";
import {
  labelFor,
  type Phases,
  pendingPhases,
  phasesFrom,
  type Standing,
  standingOf,
  withPhase,
} from "./standing.js";

/** All that a decision depends on, and nothing that has to be fetched. */
export interface Situation {
  readonly event: CrunchEvent | { readonly kind: "continue"; readonly issue: number; readonly key: string };
  readonly issue: Issue;
  readonly latest: Checkpoint | null;
  readonly workflow: Workflow;
  readonly advance: "auto" | "manual";
  readonly maxAttempts: number;
  readonly hasAgent: (phase: string) => boolean;
  /** What the event's actor may do in the repo. */
  readonly permission: Permission;
  /** Whether another session, not proven dead, holds the run. */
  readonly isHeld: boolean;
  /** Why nothing can run in this repo as it is configured. */
  readonly obstacle: Obstacle | null;
}

/** The whole policy of Crunch: from what is known to what is to be done, without doing any of it. */
export function decide(situation: Situation): Decision {
  const decision = decideFreely(situation);
  // A configuration that can't be read names no agent either: what is wrong with it says more.
  const lacksAgent = decision.kind === "refuse" && decision.code === "no_agent";
  if (!isStep(decision) && !lacksAgent) return decision;
  const { event, issue, obstacle } = situation;
  if (!issue.isOpen) {
    // Whoever closes an issue wants no more work on it. A start of Crunch is nobody's request to be answered.
    return event.kind === "started"
      ? { kind: "ignore", reason: "the issue is closed" }
      : refuse("issue_closed", "the issue is closed");
  }
  return obstacle ? refuse(obstacle.code, obstacle.detail) : decision;
}

function decideFreely(situation: Situation): Decision {
  const { event, latest } = situation;
  if (event.kind === "continue" || event.kind === "started")
    return goOn(situation, phasesOf(situation), null);
  const refusal = refusalOfActor(situation);
  if (refusal) return refusal;
  // Asking takes less access than going on does, so it never becomes that, however often it is delivered.
  const asks = event.kind === "command" && event.command.name === "status";
  if (!asks && latest?.orchestrator_state.handled_events.includes(event.key)) {
    return situation.isHeld
      ? { kind: "ignore", reason: "already being handled" }
      : goOn(situation, phasesOf(situation), null);
  }
  switch (event.kind) {
    case "labeled":
      return onLabel(situation, event.label, event.actor);
    case "unlabeled":
      return onUnlabeled(situation, event.label);
    case "bad_command":
      return refuse("unknown_command", event.problem);
    case "command":
      switch (event.command.name) {
        case "status":
          return { kind: "answer", command: event.command };
        case "checkpoint":
          if (!latest) return refuse("nothing_to_save", "no run has begun on this issue");
          return { kind: "save", note: event.command.note };
        case "run":
          return onRun(situation);
      }
  }
}

function refusalOfActor({ event, permission, workflow, latest, issue, advance }: Situation): Decision | null {
  if (event.kind === "continue" || event.kind === "started") return null;
  const needed = event.kind === "command" ? commands[event.command.name].permission : "write";
  if (mayDo(permission, needed)) return null;
  const removed = event.kind === "unlabeled" && latest ? currentLabel(workflow, latest, advance) : null;
  return {
    kind: "refuse",
    code: "no_permission",
    detail: `@${event.actor} has ${permission} access, and this takes ${needed} access`,
    removeLabel:
      event.kind === "labeled" && knownStateLabels(workflow, issue.labels).includes(event.label)
        ? event.label
        : null,
    restoreLabel: event.kind === "unlabeled" && removed === event.label ? event.label : null,
  };
}

function onLabel(situation: Situation, label: string, actor: string): Decision {
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
  if (phaseNamed(workflow, phase).kind === "terminal") {
    if (standing?.kind === "finished") return { kind: "finish" };
    return refuse("terminal_label", "Crunch sets it when every phase has ended", label);
  }
  if (standing?.kind === "waiting_for_person" && standing.next === phase) {
    return { kind: "approve", phase: standing.phase, phases: phasesOf(situation), by: actor };
  }
  const isNext =
    standing?.phase === phase && (standing.kind === "next" || standing.kind === "waiting_for_label");
  return goOn(
    situation,
    isNext ? phasesOf(situation) : phasesFrom(workflow, phasesOf(situation), phase),
    phase,
  );
}

function onUnlabeled(situation: Situation, label: string): Decision {
  const { workflow, issue, latest, isHeld } = situation;
  if (!latest || isHeld) return { kind: "ignore", reason: "seen when the running phase ends" };
  if (knownStateLabels(workflow, issue.labels).length > 0)
    return { kind: "ignore", reason: "a state label is left" };
  const standing = standingOf(workflow, phasesOf(situation), situation.advance);
  if (standing.kind === "finished") return { kind: "ignore", reason: "the run is over" };
  if (labelFor(standing) !== label) return { kind: "ignore", reason: `${label} was not the current one` };
  return { kind: "wait", reason: "label_removed" };
}

function onRun(situation: Situation): Decision {
  const { workflow, issue, latest, isHeld } = situation;
  if (!issue.isOpen) return refuse("issue_closed", "the issue is closed");
  if (isHeld) return refuse("busy", "a session is working on it");
  if (!latest) {
    const labeled = knownStateLabels(workflow, issue.labels).map((label) => phaseOfLabel(workflow, label));
    const phase =
      phasesInOrder(workflow).find(({ name, kind }) => kind !== "terminal" && labeled.includes(name))?.name ??
      workflow.first;
    return goOn(situation, phasesFrom(workflow, pendingPhases(workflow), phase), phase);
  }
  const phases = phasesOf(situation);
  const standing = standingOf(workflow, phases, situation.advance);
  if (standing.kind === "waiting_for_person") {
    return refuse("waiting_for_person", `to approve, add the label \`${stateLabel(standing.next)}\``);
  }
  if (standing.kind === "failed")
    return goOn(situation, phasesFrom(workflow, phases, standing.phase), standing.phase);
  return goOn(situation, phases, standing.phase);
}

/** Goes on from where the run stands. `requested` is the phase a person asked for, which needs no further label. */
function goOn(situation: Situation, phases: Phases, requested: string | null): Decision {
  const { workflow, issue, latest, isHeld } = situation;
  if (isHeld) return { kind: "ignore", reason: "another session holds the run" };
  if (!latest && requested === null) return { kind: "ignore", reason: "no run has begun" };
  const standing = standingOf(workflow, phases, situation.advance);
  const isUnlabeled = requested === null && knownStateLabels(workflow, issue.labels).length === 0;
  if (standing.kind === "finished") return { kind: "finish" };
  if (standing.kind === "failed") return { kind: "wait", reason: "failed" };
  if (isUnlabeled) return { kind: "wait", reason: "label_removed" };
  if (standing.kind === "waiting_for_person") return { kind: "wait", reason: "person" };
  if (standing.kind === "waiting_for_label" && requested !== standing.phase)
    return { kind: "wait", reason: "label" };
  return begin(situation, phases, standing);
}

function begin(situation: Situation, phases: Phases, standing: Standing): Decision {
  const phase = phaseNamed(situation.workflow, standing.phase);
  if (phase.kind === "human") {
    if (phase.skip !== null) return { kind: "pass", phase: phase.name, phases, reason: phase.skip };
    return { kind: "ask", phase: phase.name, phases };
  }
  const attempts = phases[phase.name]?.attempt ?? 0;
  if (standing.kind === "running" && attempts >= situation.maxAttempts) {
    return { kind: "give_up", phase: phase.name, phases, attempts };
  }
  if (!situation.hasAgent(phase.name))
    return refuse("no_agent", `no agent is configured for \`${phase.name}\``);
  return { kind: "run", phase: phase.name, phases: withPhase(phases, phase.name, { status: "pending" }) };
}

function phasesOf({ latest, workflow }: Situation): Phases {
  // A workflow may have phases that a run begun before them does not know.
  return { ...pendingPhases(workflow), ...latest?.orchestrator_state.phases };
}

function currentLabel(workflow: Workflow, latest: Checkpoint, advance: "auto" | "manual"): string {
  return labelFor(standingOf(workflow, latest.orchestrator_state.phases, advance));
}

function refuse(code: RefusalCode, detail: string, removeLabel: string | null = null): Decision {
  return { kind: "refuse", code, detail, removeLabel, restoreLabel: null };
}

const rank: Readonly<Record<Permission, number>> = { none: 0, read: 1, triage: 2, write: 3, admin: 4 };

function mayDo(has: Permission, needed: Permission): boolean {
  return rank[has] >= rank[needed];
}
