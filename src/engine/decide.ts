import type { Command } from "../commands/command.js";
import { commands } from "../commands/index.js";
import { knownStateLabels } from "../workflow/labels.js";
import { type Decision, isStep } from "./decision.js";
import { begin, goOn } from "./go-on.js";
import { onLabel, onUnlabeled } from "./on-label.js";
import { onReply } from "./on-reply.js";
import { onResume } from "./on-resume.js";
import { mayDo, refuse } from "./refuse.js";
import { currentStanding, phasesOf, type Situation } from "./situation.js";
import { labelFor, type Phases, pendingPhases, phasesFrom } from "./standing.js";

/** The whole policy of Crunch: from what is known to what is to be done, without doing any of it. */
export function decide(situation: Situation): Decision {
  const decision = decideFreely(situation);
  // A configuration that can't be read names no agent either: what is wrong with it says more.
  const lacksAgent = decision.kind === "refuse" && decision.code === "no_agent";
  const { event, issue, obstacle } = situation;
  // Turned off means: not even by hand.
  const isUnsaved = obstacle?.code === "disabled" && addsCheckpoint(decision);
  if (isUnsaved) return refuse(obstacle.code, obstacle.detail);
  if (!isStep(decision) && !lacksAgent) return decision;
  if (!issue.isOpen) {
    // Whoever closes an issue wants no more work on it. A start of Crunch is nobody's request to be answered.
    return event.kind === "started"
      ? { kind: "ignore", reason: "the issue is closed" }
      : refuse("issue_closed", "the issue is closed");
  }
  return obstacle ? refuse(obstacle.code, obstacle.detail) : decision;
}

/** Besides the steps of a run. */
function addsCheckpoint({ kind }: Decision): boolean {
  return kind === "save" || kind === "rollback" || kind === "pause";
}

function decideFreely(situation: Situation): Decision {
  const { event, latest } = situation;
  if (event.kind === "continue" || event.kind === "started")
    return goOn(situation, phasesOf(situation), null);
  const refusal = refusalOfActor(situation);
  if (refusal) return refusal;
  const isHandled = latest?.orchestrator_state.handled_events.includes(event.key) ?? false;
  if (isHandled && leadsOn(event)) {
    if (situation.isHeld) return { kind: "ignore", reason: "already being handled" };
    const requested = hasGoneBack(situation) ? currentStanding(situation).phase : null;
    return goOn(situation, phasesOf(situation), requested);
  }
  if (isHandled) return { kind: "ignore", reason: "done before" };
  switch (event.kind) {
    case "labeled":
      return onLabel(situation, event.label, event.actor);
    case "unlabeled":
      return onUnlabeled(situation, event.label);
    case "bad_command":
      return refuse("unknown_command", event.problem);
    case "command":
      return onCommand(situation, event.command);
  }
}

/** Whether an event that is delivered again may go on with a run: what was asked for once is not asked for twice. */
function leadsOn(event: Exclude<Situation["event"], { kind: "continue" | "started" }>): boolean {
  return (
    event.kind !== "command" ||
    ["run", "resume", "restart", "approve", "reject", "answer"].includes(event.command.name)
  );
}

/** A resume from an older checkpoint has put the run back to it, and has not gone on from there yet. */
function hasGoneBack({ event, latest }: Situation): boolean {
  if (event.kind !== "command" || event.command.name !== "resume" || !latest) return false;
  const { pause, metadata, orchestrator_state: run } = latest;
  const isLast = run.handled_events.at(-1) === event.key;
  return isLast && pause?.kind === "rollback" && metadata.rollback_to === event.command.checkpoint;
}

function onCommand(situation: Situation, command: Command): Decision {
  const { latest, isHeld, issue, workflow } = situation;
  switch (command.name) {
    case "status":
      return { kind: "answer", command };
    case "checkpoint":
      if (!latest) return refuse("nothing_to_save", "no run has begun on this issue");
      return { kind: "save", note: command.note };
    case "run":
      return onResume(situation, null);
    case "resume":
      return onResume(situation, command);
    case "diff":
      if (!latest) return refuse("nothing_to_resume", "no run has begun on this issue");
      return { kind: "compare", before: command.before, after: command.after };
    case "rollback":
      if (!latest) return refuse("nothing_to_resume", "no run has begun on this issue");
      if (isHeld) return refuse("busy", "a session is working on it");
      return { kind: "rollback", id: command.checkpoint, goesOn: false };
    case "approve":
    case "reject":
      return onReply(situation, command.name, command.checkpoint);
    case "answer":
      return onReply(situation, command.text, command.checkpoint);
    case "restart": {
      if (!issue.isOpen) return refuse("issue_closed", "the issue is closed");
      if (isHeld) return refuse("busy", "a session is working on it");
      const phases = phasesFrom(
        workflow,
        { ...pendingPhases(workflow), ...latest?.orchestrator_state.phases },
        workflow.first,
      );
      const begun = begin(situation, withoutFailures(phases), { kind: "next", phase: workflow.first });
      return begun.kind === "run" ? { ...begun, isRestart: true } : begun;
    }
  }
}

/** A new run knows nothing of what went wrong before. */
function withoutFailures(phases: Phases): Phases {
  const clean = Object.entries(phases).map(([name, { failure: _, ...state }]) => [name, state] as const);
  return Object.fromEntries(clean);
}

function refusalOfActor(situation: Situation): Decision | null {
  const { event, permission, workflow, latest, issue, isHeld } = situation;
  if (event.kind === "continue" || event.kind === "started") return null;
  const needed = event.kind === "command" ? commands[event.command.name].permission : "write";
  if (mayDo(permission, needed)) return null;
  const current = latest ? labelFor(currentStanding(situation)) : null;
  return {
    kind: "refuse",
    code: "no_permission",
    detail: `@${event.actor} has ${permission} access, and this takes ${needed} access`,
    // The label of a phase that is running stays, whoever took it off and put it back.
    removeLabel:
      event.kind === "labeled" &&
      !(isHeld && event.label === current) &&
      knownStateLabels(workflow, issue.labels).includes(event.label)
        ? event.label
        : null,
    restoreLabel: event.kind === "unlabeled" && current === event.label ? event.label : null,
  };
}
