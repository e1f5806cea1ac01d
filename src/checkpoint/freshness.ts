import { type ChangedFile, listOfFiles } from "./changed-files.js";
import type { Checkpoint } from "./schema.js";
import { normalized, textDiff } from "./text-diff.js";

/** What the issue and its code look like now. */
export interface World {
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  /** Where the code branch is; null when there is no such branch. */
  readonly branchSha: string | null;
  /** What others did to the code branch since: filled only when branchSha differs from the snapshot's head. */
  readonly filesChanged: readonly ChangedFile[];
}

export type StaleKind = "branch_deleted" | "body_changed" | "files_changed" | "labels_changed";

export interface StaleFinding {
  readonly kind: StaleKind;
  readonly severity: "error" | "question" | "warning";
  readonly action: "start_fresh" | "prompt_user" | "reconcile" | "proceed_with_warning";
  /** One sentence. It may hold names that others chose, so it is text and not Markdown. */
  readonly message: string;
  /** A unified diff or a list, or null when there is nothing to compare. */
  readonly diff: string | null;
}

export interface Freshness {
  readonly canResume: boolean;
  readonly action: "resume" | StaleFinding["action"];
  /** The worst first: its action is the one to take. */
  readonly findings: readonly StaleFinding[];
}

/** From the worst to the mildest; all are asked, because a person who is asked once wants to see everything. */
const checks = [branchDeleted, bodyChanged, filesChanged, labelsChanged];

/** Whether the world is still the one that the checkpoint was made in, and what to do when it is not. */
export function assessFreshness(checkpoint: Checkpoint, world: World): Freshness {
  const findings = checks.flatMap((check) => check(checkpoint, world) ?? []);
  return {
    canResume: findings.every(({ severity }) => severity !== "error"),
    action: findings[0]?.action ?? "resume",
    findings,
  };
}

function branchDeleted({ projections, issue_snapshot }: Checkpoint, world: World): StaleFinding | null {
  // A branch that the run has not made yet is not deleted, whatever the plan calls it.
  if (projections.branch_head === null || world.branchSha !== null) return null;
  const name = issue_snapshot.branch === null ? "The code branch" : `The branch ${issue_snapshot.branch}`;
  const message = `${name} was deleted: it was at ${projections.branch_head.slice(0, 7)}.`;
  return { kind: "branch_deleted", severity: "error", action: "start_fresh", message, diff: null };
}

function bodyChanged({ issue_snapshot: then }: Checkpoint, world: World): StaleFinding | null {
  const body = textDiff(then.body, world.body);
  const isTitleChanged = normalized(then.title) !== normalized(world.title);
  if (body === null && !isTitleChanged) return null;
  const size = body === null ? "" : ` (+${body.added} −${body.removed} lines)`;
  const titles = isTitleChanged ? textDiff(oneLine(then.title), oneLine(world.title)) : null;
  return {
    kind: "body_changed",
    severity: "question",
    action: "prompt_user",
    message: isTitleChanged
      ? `The issue's title ${body === null ? "was" : `and text${size} were`} changed.`
      : `The issue's text was changed${size}.`,
    diff: [
      ...(titles === null ? [] : [`--- title\n+++ title\n${titles.unified}`]),
      ...(body === null ? [] : [`--- text\n+++ text\n${body.unified}`]),
    ].join("\n"),
  };
}

function oneLine(title: string): string {
  return title.split(/\s+/).join(" ").slice(0, 1_000);
}

function filesChanged({ issue_snapshot, projections }: Checkpoint, world: World): StaleFinding | null {
  const { branchSha, filesChanged: files } = world;
  if (branchSha === null || branchSha === issue_snapshot.head_sha || files.length === 0) return null;
  // The session died before it moved the branch to its own commit: nobody else did anything.
  if (branchSha === projections.branch_head) return null;
  const count = files.length === 1 ? "1 file was" : `${files.length} files were`;
  return {
    kind: "files_changed",
    severity: "question",
    action: "reconcile",
    message: `${count} changed on the code branch by somebody else, which is at ${branchSha.slice(0, 7)} now.`,
    diff: listOfFiles(files),
  };
}

/** Labels are a set, in no order. State labels are judged apart, because Crunch itself moves them. */
function labelsChanged({ issue_snapshot }: Checkpoint, world: World): StaleFinding | null {
  const then = plainLabels(issue_snapshot.labels);
  const now = plainLabels(world.labels);
  const added = [...now].filter((label) => !then.has(label)).map((label) => `+ ${label}`);
  const removed = [...then].filter((label) => !now.has(label)).map((label) => `- ${label}`);
  if (added.length + removed.length === 0) return null;
  const message = `The issue's labels were changed (${added.length} added, ${removed.length} removed).`;
  const diff = [...removed, ...added].slice(0, 200).join("\n");
  return { kind: "labels_changed", severity: "warning", action: "proceed_with_warning", message, diff };
}

function plainLabels(labels: readonly string[]): ReadonlySet<string> {
  return new Set(labels.filter((label) => !label.startsWith("state:")));
}
