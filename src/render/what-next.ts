import type { Checkpoint } from "../checkpoint/schema.js";
import type { Standing } from "../engine/standing.js";
import { stateLabel } from "../workflow/labels.js";
import { moment } from "./moment.js";

export interface WhatNextView {
  readonly checkpoint: Checkpoint;
  readonly standing: Standing;
  readonly pullRequest: number | null;
  readonly isLabelRemoved: boolean;
  readonly hasDiverged: boolean;
}

/** What the people on the issue can do now, in one sentence. */
export function whatNext(view: WhatNextView): string {
  const { standing, isLabelRemoved, hasDiverged, pullRequest, checkpoint } = view;
  const diverged = hasDiverged
    ? "The branch was moved by somebody else, so the agent's last commit is not on it; it is kept beside the checkpoint. "
    : "";
  if (isLabelRemoved && standing.kind !== "finished") {
    return `${diverged}the state label was removed, so nothing runs. Add \`${stateLabel(standing.phase)}\` to go on.`;
  }
  if (checkpoint.pause?.kind === "stale")
    return `${diverged}answer the question below; it names the comments that do.`;
  if (checkpoint.pause?.kind === "rollback")
    return `${diverged}comment \`/crunch resume\` to go on from here.`;
  if (checkpoint.outcome === "interrupted")
    return `${diverged}it goes on when Crunch starts again; comment \`/crunch resume\` to go on now.`;
  switch (standing.kind) {
    case "running":
    case "next":
      return `${diverged}nothing to do for you; this comment is kept up to date.`;
    case "waiting_for_label":
      return `${diverged}add the label \`${stateLabel(standing.phase)}\` to go on.`;
    case "waiting_for_person":
      if (standing.next === null) return `${diverged}answer the question above.`;
      // A run of old has asked without writing down what.
      if (Object.keys(checkpoint.run_state?.questions ?? {}).length === 0)
        return `${diverged}add the label \`${stateLabel(standing.next)}\` to approve.`;
      return `${diverged}answer the question above; the label \`${stateLabel(standing.next)}\` says yes too.`;
    case "retrying":
      return `${diverged}nothing; the next try begins at ${moment(standing.until)}. Comment \`/crunch\` to try at once.`;
    case "failed":
      return `${diverged}${checkpoint.error?.hint ?? "Comment `/crunch` to try again."}`;
    case "finished":
      if (hasDiverged) {
        const last = stateLabel(checkpoint.workflow_state.current_phase);
        return `${diverged}add the label \`${last}\` to do that phase again on the branch as it is now.`;
      }
      return pullRequest === null ? withoutPullRequest(checkpoint) : `review and merge #${pullRequest}.`;
  }
}

function withoutPullRequest({ issue_snapshot: { branch, head_sha, base_sha } }: Checkpoint): string {
  const hasCode = branch !== null && head_sha !== null && head_sha !== base_sha;
  return hasCode ? `review the branch \`${branch}\`.` : "close the issue if you agree.";
}
