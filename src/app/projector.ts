import type { Checkpoint } from "../checkpoint/schema.js";
import type { Plan } from "../engine/plan.js";
import type { LabelRule, Projected, Projector } from "../engine/session.js";
import { labelFor, standingOf } from "../engine/standing.js";
import type { CheckReporter, CodeHost, Issue, IssueTracker, Log } from "../ports.js";
import { renderCheck } from "../render/check.js";
import { renderForbiddenPullRequest } from "../render/not-shown.js";
import { renderPullRequest } from "../render/pull-request.js";
import { knownStateLabels, stateLabel } from "../workflow/labels.js";
import { createPartsShown } from "./parts-shown.js";
import { statusText, wasLabelRemoved } from "./status-text.js";

const stickyMarker = "<!-- crunch:status -->";
const branchPart = "the branch";

export interface ProjectorOptions {
  readonly sessionId: string;
  /** The code as it was when the session began: what is shown about it may be there already. */
  readonly headBefore: string | null;
  readonly plan: Plan;
  readonly storageBranch: string;
  readonly tracker: IssueTracker;
  readonly code: CodeHost;
  readonly checks: CheckReporter;
  readonly log: Log;
}

/**
 * Makes GitHub show what a checkpoint says: branch, pull request, checks, comment, and the label last. All of it can
 * be done again at any time without doubling anything.
 */
export function createProjector(options: ProjectorOptions): Projector {
  const { plan, tracker, code, checks } = options;
  /** What this session knows to be shown already. */
  const branchesAt = new Map<string, string>();
  const headsKnown = new Set<string>();
  const checksSent = new Set<string>();
  let comment: { id: number; body: string } | null = null;
  /** By run: one that begins again on a new branch has a pull request of its own. */
  const pullRequests = new Map<string, number | null>();
  let branchSeen: string | undefined;

  async function projectBranch({
    issue_snapshot: { branch, head_sha: head },
    projections,
    session_id,
  }: Checkpoint): Promise<boolean> {
    if (branch === null || head === null || branchesAt.get(branch) === head) return true;
    // Only a commit of this very session can't have been shown before. Its checkpoints may also name an older one.
    const isNew = session_id === options.sessionId && head !== options.headBefore;
    const from = branchesAt.get(branch) ?? (isNew ? null : ((await code.head(branch))?.sha ?? null));
    // It was there and is gone: a person deleted it, after a merge perhaps, and it stays so.
    if (from === null && !isNew && projections.branch_head !== null) return true;
    const moved = from === head ? "moved" : await code.moveBranch(branch, head, from);
    if (moved === "diverged") return false;
    branchesAt.set(branch, head);
    branchSeen = from === head || isNew ? head : undefined;
    if (isNew) headsKnown.add(head);
    return true;
  }

  async function projectPullRequest(checkpoint: Checkpoint): Promise<number | null | "forbidden"> {
    const { branch, head_sha, base_sha, base_branch } = checkpoint.issue_snapshot;
    const known =
      checkpoint.projections.pull_request ?? pullRequests.get(checkpoint.orchestrator_state.run_id) ?? null;
    if (known !== null || branch === null || head_sha === null || head_sha === base_sha) return known;
    const text = renderPullRequest(checkpoint);
    return code.openPullRequest({ branch, base: base_branch, ...text });
  }

  async function projectChecks(checkpoint: Checkpoint): Promise<boolean> {
    const head = checkpoint.issue_snapshot.head_sha;
    if (head === null) return true;
    const runs = checkpoint.governance_results.quality_gates
      .map((gate) => renderCheck(gate, checkpoint.orchestrator_state.run_id))
      .filter(({ externalId }) => !checksSent.has(`${head} ${externalId}`));
    const reported = await checks.report(head, runs, { fresh: headsKnown.has(head) });
    headsKnown.add(head);
    for (const { externalId } of runs) checksSent.add(`${head} ${externalId}`);
    return reported === "reported";
  }

  async function projectComment(checkpoint: Checkpoint, body: string): Promise<number> {
    const issue = checkpoint.issue_number;
    if (comment?.body === body) return comment.id;
    // Only a comment that this session has found or written: a checkpoint could name that of somebody else.
    const id = await tracker.upsertComment(issue, stickyMarker, body, comment?.id ?? null);
    comment = { id, body };
    return id;
  }

  async function projectLabel(issue: Issue, wanted: string, run: Checkpoint): Promise<Issue> {
    // Also those of phases that the workflow has no longer: Crunch put them there.
    const gone = Object.keys(run.orchestrator_state.phases).map(stateLabel);
    const ours = new Set([...knownStateLabels(plan.workflow, issue.labels), ...gone]);
    const others = issue.labels.filter((label) => ours.has(label) && label !== wanted);
    // Added before the others go: a crash in between must not look like a person who removed the label.
    if (!issue.labels.includes(wanted)) await tracker.addLabel(issue.number, wanted);
    for (const label of others) await tracker.removeLabel(issue.number, label);
    return {
      ...issue,
      labels: [...issue.labels.filter((label) => label !== wanted && !others.includes(label)), wanted],
    };
  }

  async function project(
    checkpoint: Checkpoint,
    { issue, label }: { issue: Issue; label: LabelRule },
  ): Promise<Projected> {
    const standing = standingOf(plan.workflow, checkpoint.orchestrator_state.phases, plan.advance);
    const isLabelRemoved = label === "keep" && wasLabelRemoved(plan, issue, standing);
    branchSeen = undefined;
    // The next phase begins with the code on the branch: without it the run can't go on.
    const parts = createPartsShown(options.log, issue.number, [branchPart]);
    const before = checkpoint.projections;
    const onBranch = await parts.attempt(branchPart, () => projectBranch(checkpoint), null);
    const isOnBranch = onBranch === true;
    const opened = isOnBranch
      ? await parts.attempt("the pull request", () => projectPullRequest(checkpoint), before.pull_request)
      : before.pull_request;
    const pullRequest = opened === "forbidden" ? null : opened;
    pullRequests.set(checkpoint.orchestrator_state.run_id, pullRequest);
    const areChecksShown = isOnBranch
      ? await parts.attempt("the checks", () => projectChecks(checkpoint), true)
      : true;
    const body = statusText({
      ...{ checkpoint, plan, issue, storageBranch: options.storageBranch, pullRequest, isLabelRemoved },
      hasDiverged: onBranch === false,
      areChecksShown,
      remarks: [
        ...(opened === "forbidden" ? [renderForbiddenPullRequest(checkpoint, issue.url)] : []),
        ...parts.remarks(),
      ],
    });
    const knownComment = before.comment_id ?? comment?.id ?? null;
    const commentId = await parts.attempt(
      "the comment",
      () => projectComment(checkpoint, body),
      knownComment,
    );
    const isAtRest = standing.kind !== "running" && standing.kind !== "next";
    // The label comes last: where it is right, the next start takes all the rest for shown.
    const isLabelLeft = isLabelRemoved || label === "leave" || parts.isGrave({ isAtRest });
    const shown = isLabelLeft
      ? issue
      : await parts.attempt("the label", () => projectLabel(issue, labelFor(standing), checkpoint), issue);
    parts.finish({ isAtRest });
    const { branch, head_sha } = checkpoint.issue_snapshot;
    const branchHead = branch !== null && isOnBranch ? head_sha : before.branch_head;
    return {
      projections: { comment_id: commentId, pull_request: pullRequest, branch_head: branchHead },
      issue: shown,
      branchSeen,
    };
  }

  return { project };
}
