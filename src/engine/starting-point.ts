import { emptyRun } from "../checkpoint/create.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { Carried } from "./journal.js";
import type { IssueStart } from "./run-on-issue.js";
import type { Session } from "./session.js";
import { snapshotOf, snapshotOfRestart } from "./snapshot.js";

/** What a session takes over from the latest checkpoint; for a new run, next to nothing. */
export async function startingPoint(
  session: Session,
  start: IssueStart,
  isNewRun: boolean,
): Promise<Carried> {
  const { latest, issue, step, actor } = start;
  if (latest && !isNewRun)
    return { ...latest, issue_snapshot: await snapshotOf(session, latest, issue, start) };
  const snapshot = latest
    ? await snapshotOfRestart(session, latest, issue)
    : await snapshotOf(session, null, issue, start);
  const run = emptyRun({
    ...{ issue: issue.number, workflow: session.plan.workflow.name, phase: step.phase, phases: step.phases },
    ...{ snapshot, startedBy: actor, maker: session.maker },
  });
  return latest ? { ...run, projections: projectionsOfRestart(latest, snapshot) } : run;
}

/** A new run keeps the comment, and the pull request as long as its branch is there. */
function projectionsOfRestart({ projections }: Checkpoint, snapshot: Checkpoint["issue_snapshot"]) {
  const pull = snapshot.branch === null ? null : projections.pull_request;
  return { comment_id: projections.comment_id, pull_request: pull, branch_head: null };
}
