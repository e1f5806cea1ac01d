import type { StaleKind } from "../checkpoint/freshness.js";
import { type Decision, isStep, type Step } from "./decision.js";
import { refuse } from "./refuse.js";
import type { Situation } from "./situation.js";
import { withPhase } from "./standing.js";

/** A step is taken only in the world that its checkpoint knew, or when a person has said that the new one is fine. */
export function ifFresh(situation: Situation, decision: Decision): Decision {
  const { event, freshness, isAsked, latest } = situation;
  // Within a session the next phase works with what it finds: nobody was away.
  if (latest === null || freshness === null || event.kind === "continue" || !isStep(decision))
    return decision;
  const deleted = freshness.findings.find(({ kind }) => kind === "branch_deleted");
  if (deleted) return refuse("branch_deleted", deleted.message.replace(/\.$/, ""));
  const questions = freshness.findings.filter(({ severity }) => severity === "question");
  if (questions.length === 0) return decision;
  // Whoever adds a label has seen the branch; but an outsider may have edited the text since anybody read it.
  if (event.kind === "labeled" && questions.every(({ kind }) => kind !== "body_changed")) return decision;
  const isAnswered = isAsked && questions.every(({ kind }) => isAnsweredBy(kind, situation));
  if (isAnswered) return decision;
  if (isAsked && event.kind !== "command") return { kind: "wait", reason: "stale" };
  return { kind: "pause", freshness };
}

function isAnsweredBy(kind: StaleKind, { event }: Situation): boolean {
  if (event.kind !== "command" || event.command.name !== "resume") return false;
  return kind === "body_changed" ? event.command.isAccepted : event.command.keep !== null;
}

/** An approval is of the text and the code that were there when it was asked for; of others it has to be asked anew. */
export function ifStillAsked(situation: Situation, approval: Step): Decision {
  const findings = situation.freshness?.findings ?? [];
  const deleted = findings.find(({ kind }) => kind === "branch_deleted");
  if (deleted) return refuse("branch_deleted", deleted.message.replace(/\.$/, ""));
  const isChanged = findings.some(({ severity }) => severity === "question");
  const { phase, phases } = approval;
  if (!isChanged) return approval;
  return { kind: "ask", phase, phases: withPhase(phases, phase, { status: "pending" }), isAgain: true };
}
