import { setTimeout as delay } from "node:timers/promises";
import type { Checkpoint } from "../checkpoint/schema.js";
import { decide } from "../engine/decide.js";
import type { Decision, Step } from "../engine/decision.js";
import type { CrunchEvent } from "../engine/events.js";
import { runOnIssue } from "../engine/run-on-issue.js";
import { type LabelRule, randomHex, type Session } from "../engine/session.js";
import { currentStanding, type Situation } from "../engine/situation.js";
import { labelFor } from "../engine/standing.js";
import { CrunchError, messageOf } from "../errors.js";
import type { CheckpointStore, CodeHost, Issue } from "../ports.js";
import { renderVoid } from "../render/stale.js";
import { knownStateLabels } from "../workflow/labels.js";
import type { Dependencies } from "./dependencies.js";
import type { Loaded } from "./load.js";
import type { Outcome } from "./outcome.js";
import { createProjector } from "./projector.js";
import { remind } from "./remind.js";
import { carryOutRefusal, replyOnce } from "./replies.js";
import { statusText } from "./status-text.js";

/** What is at hand once an event has been decided upon. */
export interface Handling {
  readonly deps: Dependencies;
  readonly sessionId: string;
  readonly event: CrunchEvent;
  readonly store: CheckpointStore;
  readonly redact: (text: string) => string;
  readonly storageBranch: string;
  readonly loaded: Loaded;
  readonly situation: Situation;
}

/** Where the run is, and the issue as it was last seen. */
interface Position {
  readonly latest: Checkpoint;
  readonly issue: Issue;
  readonly branchSeen?: string | undefined;
}

/** Goes on step by step until the run waits for somebody or is over. `gave_way`: another session came first. */
export async function runSteps(handling: Handling, first: Step): Promise<Outcome | "gave_way"> {
  const { deps, event, loaded } = handling;
  const session = sessionFor(handling);
  if (event.kind === "command" && event.commentId !== null) await deps.tracker.react(event.commentId, "eyes");
  const keep = event.kind === "command" && event.command.name === "resume" ? event.command.keep : null;
  const { latest, issue } = loaded;
  if (latest && keep === "mine") await putCodeBack(deps.code, latest);
  // What an earlier session left half shown is put right first; the label is what this event is about.
  const before =
    latest && (await show(session, { latest, issue }, event.kind === "started" ? "keep" : "leave"));
  const view = {
    decide: (position: Position) => decideNext(handling, position),
    show: (position: Position, label: LabelRule) => show(session, position, label),
    issue: (number: number) => deps.tracker.issue(number),
    isManual: loaded.plan.advance === "manual",
  };
  const actor = "actor" in event ? event.actor : "crunch";
  const start = { event, actor, step: first, latest: before?.latest ?? null, issue: before?.issue ?? issue };
  try {
    const ended = await runOnIssue(session, view, { ...start, branchSeen: before?.branchSeen });
    if (first.kind === "ask" && first.isAgain) await tellVoid(handling);
    if (ended.status === "stopped") return stopped(handling, session, ended.position);
    return end(handling, ended.decision, ended.position);
  } catch (error) {
    if (error instanceof CrunchError && error.code === "gave_way") return "gave_way";
    throw error;
  }
}

/** An approval came for what is no longer there: says what has changed, and that it is asked again. */
async function tellVoid({ deps, event, loaded }: Handling): Promise<void> {
  const text = renderVoid(loaded.seen?.freshness.findings ?? []);
  await replyOnce(deps, event.issue, `void ${event.key}`, text);
}

/** How long a process that was told to stop may take to say so on the issue; the checkpoint is safe by then. */
const farewellMs = 1_500;

/** Told to stop: what there is has been saved, and the next session goes on from it. */
async function stopped(handling: Handling, session: Session, { latest, issue }: Position): Promise<Outcome> {
  const shown = show(session, { latest, issue }, "leave").catch((error: unknown) => {
    handling.deps.log.warn(`the comment does not show the stop: ${messageOf(error)}`);
  });
  await Promise.race([shown, delay(farewellMs, undefined, { ref: false })]);
  const { storageBranch, loaded } = handling;
  const view = { checkpoint: latest, plan: loaded.plan, issue, storageBranch, isLabelRemoved: false };
  const text = statusText(view);
  return { status: "interrupted", reason: `${latest.trigger} saved`, checkpoint: latest, text };
}

/** Files that others changed on the code branch get back what the checkpoint had, by a commit on top of theirs. */
async function putCodeBack(
  code: CodeHost,
  { issue_snapshot: snapshot, checkpoint_id }: Checkpoint,
): Promise<void> {
  const { branch, head_sha: head } = snapshot;
  const tip = branch === null ? null : await code.head(branch);
  if (branch === null || head === null || !tip || tip.sha === head) return;
  const message = `Put the files back to ${checkpoint_id}`;
  const restored = await code.prepareRestore({ parent: tip.sha, filesOf: head, message });
  await code.moveBranch(branch, restored.sha, tip.sha);
}

/** Shows one checkpoint, outside of a run of steps. */
export async function showNow(
  handling: Handling,
  checkpoint: Checkpoint,
  issue: Issue,
  label: LabelRule,
): Promise<Checkpoint> {
  return (await show(sessionFor(handling), { latest: checkpoint, issue }, label)).latest;
}

/** Nothing is to be run: shows where the run stands, and why it goes no further. */
export async function settle(
  handling: Handling,
  decision: Extract<Decision, { kind: "wait" | "finish" }>,
): Promise<Outcome> {
  const { latest, issue } = handling.loaded;
  if (!latest) return { status: "ignored", reason: "no run has begun" };
  // The label is shown last, and then the one before is taken off: where it alone says that all is done, a start has
  // nothing to put right.
  const { situation } = handling;
  const labels = knownStateLabels(situation.workflow, issue.labels);
  const isShown =
    decision.kind === "finish" && labels.length === 1 && labels[0] === labelFor(currentStanding(situation));
  if (handling.event.kind === "started" && isShown) return end(handling, decision, { latest, issue });
  if (decision.kind === "wait" && decision.reason === "person")
    await remind(handling.deps, { latest, issue });
  const shown = await show(sessionFor(handling), { latest, issue }, "keep");
  return end(handling, decision, shown);
}

async function show(session: Session, { latest, issue }: Position, label: LabelRule): Promise<Position> {
  const shown = await session.projector.project(latest, { issue, label });
  const { projections, branchSeen } = shown;
  return { latest: { ...latest, projections }, issue: shown.issue, branchSeen };
}

function decideNext({ deps, situation, event }: Handling, { latest, issue }: Position): Decision {
  const going = { kind: "continue" as const, issue: event.issue, key: event.key };
  return decide({ ...situation, event: going, latest, issue, isHeld: false, now: deps.clock.now() });
}

async function end(handling: Handling, decision: Decision, { latest, issue }: Position): Promise<Outcome> {
  const { deps, event, storageBranch, loaded } = handling;
  const text = statusText({ checkpoint: latest, plan: loaded.plan, issue, storageBranch });
  switch (decision.kind) {
    case "finish":
      return { status: "finished", checkpoint: latest, text };
    case "wait": {
      if (decision.reason !== "failed")
        return { status: "waiting", reason: decision.reason, checkpoint: latest, text };
      return {
        status: "failed",
        reason: latest.error?.message ?? "the phase failed",
        checkpoint: latest,
        text,
      };
    }
    case "refuse":
      return carryOutRefusal(deps, event, decision);
    default:
      throw new Error(`a run can't end with the decision ${decision.kind}`);
  }
}

function sessionFor({ deps, sessionId, store, redact, storageBranch, loaded }: Handling): Session {
  const { plan, latest } = loaded;
  const { repository, holder, tracker, code, checks, workspaces, commands, clock, log, signal } = deps;
  const projector = createProjector({
    ...{ sessionId, plan, storageBranch, tracker, code, checks, log },
    headBefore: latest?.issue_snapshot.head_sha ?? null,
  });
  const maker = { now: () => clock.now(), randomHex, sessionId };
  return {
    ...{ id: sessionId, holder, repository, plan, store, code, workspaces, commands, projector },
    ...{ redact, clock, log, signal, maker, notes: new Map<string, string>() },
  };
}
