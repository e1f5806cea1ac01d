import { whileActive } from "../adapters/liveness.js";
import { decide } from "../engine/decide.js";
import { type Decision, isStep } from "../engine/decision.js";
import type { CrunchEvent } from "../engine/events.js";
import { isHeldByAnother } from "../engine/lease.js";
import { randomHex } from "../engine/session.js";
import type { Situation } from "../engine/situation.js";
import { CrunchError } from "../errors.js";
import type { Permission } from "../ports.js";
import { answerDiff } from "./compare.js";
import type { Dependencies } from "./dependencies.js";
import { type Loaded, loadConfig, loadIssue } from "./load.js";
import { missedLabel, phaseMovedTo } from "./missed-label.js";
import { noteAnswer } from "./note-answer.js";
import type { Outcome } from "./outcome.js";
import { pauseForAnswer } from "./pause.js";
import { answerPreview } from "./preview.js";
import { carryOutRefusal, replyOnce, reportError } from "./replies.js";
import { rollBack } from "./rollback.js";
import { type Handling, runSteps, settle } from "./run-loop.js";
import { saveManually } from "./save-manually.js";
import { statusText } from "./status-text.js";
import { isAskedAbout } from "./world.js";

/** How often a race for the run may be lost before the event is given up. */
const mostTries = 5;

/** The use case: something happened on an issue; decide what to do about it, and do it. */
export async function handleEvent(deps: Dependencies, event: CrunchEvent): Promise<Outcome> {
  const sessionId = `SES-${deps.clock.now().toISOString().slice(0, 10)}-${randomHex().slice(0, 12)}`;
  try {
    return await whileActive(sessionId, () => handle(deps, sessionId, event));
  } catch (error) {
    if (!(error instanceof CrunchError) || error.code === "interrupted") throw error;
    return reportError(deps, event, error);
  }
}

async function handle(deps: Dependencies, sessionId: string, event: CrunchEvent): Promise<Outcome> {
  const configured = await loadConfig(deps);
  const permission = "actor" in event ? await deps.tracker.permissionOf(event.actor) : "none";
  const storageBranch = configured.checkpoint.storage.branch.replaceAll("{issue}", String(event.issue));
  let release: (() => void) | null = null;
  try {
    for (let tries = 0; tries < mostTries; tries++) {
      const loaded = await loadIssue(deps, configured, event);
      const isHeld = await isHeldByAnother(loaded.latest, sessionId, deps.clock, deps.liveness);
      const known = situationOf(event, loaded, permission, isHeld, deps.clock.now());
      const situation = { ...known, movedTo: await phaseMovedTo(deps.tracker, known) };
      const missed = await missedLabel(deps.tracker, situation);
      if (missed) {
        // It takes a place of its own.
        release?.();
        release = null;
        const outcome = await handle(deps, sessionId, missed);
        if (!isTakenOff(outcome)) return outcome;
        // Nothing came of the label: the run goes on where it stands.
        continue;
      }
      const decision = decide(situation);
      if (isStep(decision) && release === null) {
        const slot = await deps.slots.take();
        release = slot.release;
        // Much may have happened while this waited in line.
        if (slot.waited) continue;
      }
      const handling = {
        deps,
        sessionId,
        event,
        store: configured.store,
        redact: configured.redact,
        storageBranch,
        loaded,
        situation,
      };
      const ended = await carryOut(handling, decision);
      if (ended !== "gave_way") return ended;
    }
  } finally {
    release?.();
  }
  return { status: "ignored", reason: "other sessions kept coming first" };
}

/** Whether the label that was wished for is off the issue again. */
function isTakenOff(outcome: Outcome): boolean {
  return outcome.status === "refused" && ["no_permission", "terminal_label"].includes(outcome.code);
}

function situationOf(
  event: CrunchEvent,
  loaded: Loaded,
  permission: Permission,
  isHeld: boolean,
  now: Date,
): Situation {
  const { issue, latest, seen, plan, obstacle } = loaded;
  const { workflow, advance, maxAttempts } = plan;
  const hasAgent = (phase: string) =>
    Object.values(plan.phases[phase]?.agents ?? {}).every((agent) => agent !== null);
  const isAsked = latest !== null && seen !== null && isAskedAbout(latest, seen);
  const known = {
    event,
    issue,
    latest,
    workflow,
    advance,
    maxAttempts,
    hasAgent,
    permission,
    isHeld,
    obstacle,
  };
  return { ...known, freshness: seen?.freshness ?? null, isAsked, movedTo: null, now };
}

async function carryOut(handling: Handling, decision: Decision): Promise<Outcome | "gave_way"> {
  const { deps, event } = handling;
  switch (decision.kind) {
    case "ignore":
      return { status: "ignored", reason: decision.reason };
    case "refuse":
      return carryOutRefusal(deps, event, decision);
    case "answer":
      return answerStatus(handling);
    case "save":
      return saveManually(handling, decision.note);
    case "note":
      return noteAnswer(handling, decision);
    case "preview":
      return answerPreview(handling, decision.id);
    case "compare":
      return answerDiff(handling, decision.before, decision.after);
    case "pause":
      return pauseForAnswer(handling, decision.freshness);
    case "rollback": {
      const rolledBack = await rollBack(handling, decision.id);
      // The event is then decided upon anew: as a wish to go on from the checkpoint that is the latest now.
      if (rolledBack === "gave_way") return rolledBack;
      return decision.goesOn && rolledBack.status === "waiting" ? "gave_way" : rolledBack;
    }
    case "finish":
      if (event.kind === "command") await tellFinished(handling);
      return settle(handling, decision);
    case "wait":
      return settle(handling, decision);
    default:
      return runSteps(handling, decision);
  }
}

/** Whoever asks a finished run to go on is told how it can begin again. */
async function tellFinished({ deps, event }: Handling): Promise<void> {
  const text =
    "This run is done. Comment `/crunch restart`, or add the label of a phase, to begin again from there.";
  await replyOnce(deps, event.issue, event.key, text);
}

async function answerStatus({ deps, event, loaded, storageBranch }: Handling): Promise<Outcome> {
  const { latest, plan, issue } = loaded;
  const text = latest
    ? statusText({ checkpoint: latest, plan, issue, storageBranch })
    : "No run has begun on this issue. Add the label `state:enrich`, or comment `/crunch`, to begin.";
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "answered", checkpoint: latest, text };
}
