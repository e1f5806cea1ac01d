import type { Checkpoint } from "../checkpoint/schema.js";
import type { Plan } from "../engine/plan.js";
import { type Standing, standingOf } from "../engine/standing.js";
import type { Issue } from "../ports.js";
import { renderStatus } from "../render/status.js";
import { knownStateLabels } from "../workflow/labels.js";

export interface StatusOptions {
  readonly checkpoint: Checkpoint;
  readonly plan: Plan;
  readonly issue: Issue;
  readonly storageBranch: string;
  readonly pullRequest?: number | null;
  readonly isLabelRemoved?: boolean;
  readonly hasDiverged?: boolean;
  readonly areChecksShown?: boolean;
  readonly remarks?: readonly string[];
}

/** Where a run stands, as Markdown with links into the repo. */
export function statusText(options: StatusOptions): string {
  const { checkpoint, plan, issue, storageBranch } = options;
  const file = `${plan.layout.folder(issue.number)}/${plan.layout.checkpoint(checkpoint.checkpoint_id, plan.isCompressed)}`;
  const isLocal = issue.url.startsWith("file:");
  const web = issue.url.replace(/\/issues\/\d+$/, "");
  const standing = standingOf(plan.workflow, checkpoint.orchestrator_state.phases, plan.advance);
  return renderStatus({
    checkpoint,
    workflow: plan.workflow,
    standing,
    checkpointUrl: isLocal ? file : encodeURI(`${web}/blob/${storageBranch}/${file}`),
    pullRequest: options.pullRequest ?? checkpoint.projections.pull_request,
    isLabelRemoved: options.isLabelRemoved ?? wasLabelRemoved(plan, issue, standing),
    hasDiverged: options.hasDiverged ?? false,
    isPictured: !isLocal,
    areChecksShown: options.areChecksShown ?? true,
    remarks: options.remarks ?? [],
  });
}

/** Nobody but a person takes the last state label off, and that means: stop. */
export function wasLabelRemoved(plan: Plan, issue: Issue, standing: Standing): boolean {
  return standing.kind !== "finished" && knownStateLabels(plan.workflow, issue.labels).length === 0;
}
