import { emptyRun } from "../checkpoint/create.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { IssueStart } from "./issue-start.js";
import type { Carried } from "./journal-parts.js";
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
    return carriedOf({ ...latest, issue_snapshot: await snapshotOf(session, latest, issue, start) });
  const snapshot = latest
    ? await snapshotOfRestart(session, latest, issue)
    : await snapshotOf(session, null, issue, start);
  const run = emptyRun({
    ...{ issue: issue.number, workflow: session.plan.workflow.name, phase: step.phase, phases: step.phases },
    ...{ snapshot, startedBy: actor, maker: session.maker },
  });
  return carriedOf(latest ? { ...run, projections: projectionsOfRestart(latest, snapshot) } : run);
}

/** Nothing but that: what belongs to one checkpoint alone must not become part of the next. */
function carriedOf(run: Carried): Carried {
  const { issue_snapshot, team_state, agent_states, agent_outputs, acp_state, files_modified } = run;
  const { artifacts, notes, governance_results, acceptance_criteria, projections } = run;
  return {
    ...{ issue_snapshot, team_state, agent_states, agent_outputs, acp_state, files_modified },
    ...{ artifacts, notes, governance_results, acceptance_criteria, projections },
  };
}

/** A new run keeps the comment, and the pull request as long as its branch is there. */
function projectionsOfRestart({ projections }: Checkpoint, snapshot: Checkpoint["issue_snapshot"]) {
  const pull = snapshot.branch === null ? null : projections.pull_request;
  return { comment_id: projections.comment_id, pull_request: pull, branch_head: null };
}
