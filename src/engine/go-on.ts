import { isAnswered } from "../runtime/answering.js";
import { knownStateLabels } from "../workflow/labels.js";
import { phaseNamed } from "../workflow/workflow.js";
import type { Decision } from "./decision.js";
import { ifFresh } from "./if-fresh.js";
import { refuse } from "./refuse.js";
import type { Situation } from "./situation.js";
import { type Phases, readyPhases, type Standing, standingOf, withPhase } from "./standing.js";

/** Goes on from where the run stands. `requested` is the phase a person asked for, which needs no further label. */
export function goOn(situation: Situation, phases: Phases, requested: string | null): Decision {
  const { workflow, issue, latest, isHeld } = situation;
  if (isHeld) return { kind: "ignore", reason: "another session holds the run" };
  if (!latest && requested === null) return { kind: "ignore", reason: "no run has begun" };
  const standing = standingOf(workflow, phases, situation.advance);
  const isUnlabeled = requested === null && knownStateLabels(workflow, issue.labels).length === 0;
  if (standing.kind === "finished") return { kind: "finish" };
  if (standing.kind === "failed") return { kind: "wait", reason: "failed" };
  const pause = latest?.pause ?? null;
  if (pause?.kind === "rollback" && requested === null) return { kind: "wait", reason: "rolled_back" };
  if (isUnlabeled) return { kind: "wait", reason: "label_removed" };
  if (standing.kind === "waiting_for_person" || standing.kind === "retrying")
    return onTime(situation, phases, standing, requested);
  if (standing.kind === "waiting_for_label" && !readyPhases(workflow, phases).includes(requested ?? ""))
    return { kind: "wait", reason: "label" };
  return ifFresh(situation, begin(situation, phases, standing));
}

/** Whether a question need not be waited for any longer: it is answered, or its time is up. */
export function isQuestionOver({ latest, now }: Situation): boolean {
  return Object.values(latest?.run_state?.questions ?? {}).some((asked) => isAnswered(asked, now));
}

/** Nothing is at work: goes on with what has its answer or its time, or, when a person asks for it, with the next try. */
function onTime(
  situation: Situation,
  phases: Phases,
  { kind, phase }: Standing,
  requested: string | null,
): Decision {
  const { now } = situation;
  const asleep = sleepingPhases(phases);
  const isDue = asleep.some(({ until }) => Date.parse(until) <= now.getTime());
  const isAwoken = requested !== null && asleep.length > 0;
  if (!isDue && !isAwoken && !isQuestionOver(situation))
    return { kind: "wait", reason: kind === "retrying" ? "retry" : "person" };
  const awake = asleep.reduce(
    (all, { name }) => withPhase(all, name, { retry_at: now.toISOString() }),
    phases,
  );
  return ifFresh(situation, { kind: "proceed", phase, phases: isAwoken ? awake : phases, again: true });
}

export function sleepingPhases(phases: Phases): readonly { readonly name: string; readonly until: string }[] {
  return Object.entries(phases).flatMap(([name, { status, retry_at: until }]) =>
    status === "pending" && until !== undefined ? [{ name, until }] : [],
  );
}

export function begin(situation: Situation, phases: Phases, standing: Standing): Decision {
  const phase = phaseNamed(situation.workflow, standing.phase);
  if (phase.type !== "terminal" && phase.skip !== undefined)
    return { kind: "pass", phase: phase.name, phases, reason: phase.skip };
  if (phase.type === "human") return { kind: "ask", phase: phase.name, phases };
  const { attempt = 0, stops = 0 } = phases[phase.name] ?? {};
  // An attempt that is running although nobody works on it has died; one that was stopped on purpose has not.
  const deaths = attempt - stops;
  if (standing.kind === "running" && deaths >= situation.maxAttempts) {
    return { kind: "give_up", phase: phase.name, phases, attempts: deaths };
  }
  if (!situation.hasAgent(phase.name))
    return refuse("no_agent", `no agent is configured for \`${phase.name}\``);
  return { kind: "run", phase: phase.name, phases };
}
