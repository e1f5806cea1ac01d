import type { RunEvent } from "../checkpoint/run-event.js";
import { Recorder } from "../runtime/recorder.js";
import { Run } from "../runtime/run.js";
import type { StateOf } from "../workflow/define-workflow.js";
import { compile } from "./compile.js";
import type { Decision } from "./decision.js";
import { createFolders } from "./folders.js";
import { createHands } from "./hands.js";
import { createTurns } from "./in-turn.js";
import { createIssueHost, type IssueView, type Place } from "./issue-host.js";
import type { IssueStart } from "./issue-start.js";
import type { IssueRun } from "./issue-task.js";
import { Journal } from "./journal.js";
import { createEventLog } from "./log-events.js";
import { openingEvents, openingMoment } from "./opening.js";
import type { Session } from "./session.js";
import { startingPoint } from "./starting-point.js";

export type IssueEnd =
  | { readonly status: "stopped"; readonly position: Place }
  | { readonly status: "rests"; readonly decision: Decision; readonly position: Place };

/** Runs a workflow on an issue until it waits for somebody, is over or has to stop. */
export async function runOnIssue(session: Session, view: IssueView, start: IssueStart): Promise<IssueEnd> {
  const { latest, issue, step, event, actor } = start;
  const isNewRun = latest === null || (step.kind === "run" && step.isRestart === true);
  const carried = await startingPoint(session, start, isNewRun);
  const journal = new Journal(session, {
    issue: issue.number,
    latest,
    isNewRun,
    carried,
    eventKey: event.key,
    actor,
  });
  const folders = createFolders(session, journal, issue.number);
  const { workflow, maxAttempts } = session.plan;
  const logEvent = createEventLog(session.log, session.clock, issue.number);
  const onEvent = (told: RunEvent) => {
    journal.hears(told);
    logEvent(told);
  };
  const commit = journal.commit.bind(journal);
  const now = () => session.clock.now();
  const recorder = new Recorder<StateOf>({ workflow, commit, now, onEvent }, latest, isNewRun);
  recorder.tell(...openingEvents(step, workflow, recorder.record, now()));
  const atWork = new Set<Promise<unknown>>();
  const run: IssueRun = { session, journal, folders, recorder, issue, turn: createTurns(), atWork };
  const definition = compile(workflow, maxAttempts, createHands(run));
  const host = createIssueHost(run, view, start);
  try {
    const runtime = { workflow: definition, recorder, now };
    const result = await new Run(runtime, { signal: session.signal }, host, openingMoment(step)).run();
    const position = host.position(result.checkpoint);
    if (result.status === "stopped") return { status: "stopped", position };
    return { status: "rests", decision: host.held() ?? view.decide(position), position };
  } finally {
    await folders.closeAll();
  }
}
