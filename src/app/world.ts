import { createHash } from "node:crypto";
import type { ChangedFile } from "../checkpoint/changed-files.js";
import { assessFreshness, type Freshness, type World } from "../checkpoint/freshness.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { CodeHost, Issue } from "../ports.js";

/** The issue and its code as they are now, beside what a checkpoint says of them. */
export interface Seen {
  readonly world: World;
  readonly freshness: Freshness;
  /** What a question about it, and its answer, are bound to. */
  readonly mark: { readonly body_sha256: string; readonly branch_sha: string | null };
}

export async function lookAround(code: CodeHost, checkpoint: Checkpoint, issue: Issue): Promise<Seen> {
  const { branch, head_sha: head } = checkpoint.issue_snapshot;
  const tip = branch === null ? null : await code.head(branch);
  const isMoved = tip !== null && head !== null && tip.sha !== head;
  const filesChanged = isMoved ? await changedByOthers(code, checkpoint, head, tip.sha) : [];
  const { title, body, labels } = issue;
  const world = { title, body, labels, branchSha: tip?.sha ?? null, filesChanged };
  const text = createHash("sha256").update(JSON.stringify([title, body]));
  return {
    world,
    freshness: assessFreshness(checkpoint, world),
    mark: { body_sha256: text.digest("hex"), branch_sha: world.branchSha },
  };
}

/**
 * What others did to the branch: the files they changed, and ours that they took away by going back. A branch that is
 * behind is one that Crunch has not moved yet, unless it is known to have been at the head.
 */
async function changedByOthers(
  code: CodeHost,
  { projections }: Checkpoint,
  head: string,
  tip: string,
): Promise<readonly ChangedFile[]> {
  if (tip === projections.branch_head) return [];
  const theirs = await code.changesBetween(head, tip);
  if (projections.branch_head !== head) return theirs;
  const known = new Set(theirs.map(({ path }) => path));
  const lost = (await code.changesBetween(tip, head)).filter(({ path }) => !known.has(path));
  return [
    ...theirs,
    ...lost.map((file) => ({ ...file, status: opposite[file.status] ?? file.status, patch: null })),
  ];
}

/** Seen from the other side. */
const opposite: Readonly<Partial<Record<ChangedFile["status"], ChangedFile["status"]>>> = {
  added: "deleted",
  deleted: "added",
};

/** Whether the latest checkpoint is the question about just this world. */
export function isAskedAbout(latest: Checkpoint, { mark }: Seen): boolean {
  const { pause } = latest;
  return (
    pause?.kind === "stale" && pause.body_sha256 === mark.body_sha256 && pause.branch_sha === mark.branch_sha
  );
}
