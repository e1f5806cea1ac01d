import type { Checkpoint } from "../checkpoint/schema.js";
import { unknownCommit } from "../checkpoint/versions/from-1-0.js";
import type { Issue } from "../ports.js";
import type { Session } from "./session.js";

type Snapshot = Checkpoint["issue_snapshot"];

/** The issue and its code as a phase finds them. */
export async function snapshotOf(
  session: Session,
  latest: Checkpoint | null,
  issue: Issue,
  options: { readonly branchSeen?: string | undefined; readonly isTextKept?: boolean } = {},
): Promise<Snapshot> {
  const before = latest?.issue_snapshot ?? null;
  if (!before) return { ...textOf(issue), ...(await freshBase(session)) };
  const { title, body } = before;
  const now = { ...before, ...textOf(issue), ...(options.isTextKept ? { title, body } : {}) };
  if (before.head_sha === null) {
    // An imported run does not know what its code was based on.
    return before.base_sha === unknownCommit ? { ...now, ...(await freshBase(session)) } : now;
  }
  // Once there is a branch the base no longer matters: what people push to the branch is worked on.
  const head = options.branchSeen ?? (await session.code.head(session.plan.branch))?.sha ?? before.head_sha;
  return { ...now, head_sha: head };
}

/** For a run that begins again: from the default branch as it is now, on top of what an earlier run left. */
export async function snapshotOfRestart(
  session: Session,
  latest: Checkpoint,
  issue: Issue,
): Promise<Snapshot> {
  const base = await freshBase(session);
  const { branch } = latest.issue_snapshot;
  const tip = branch === null ? null : await session.code.head(branch);
  if (!tip) return { ...textOf(issue), ...base };
  const message = "Begin again: put the files back to the default branch";
  const restored = await session.code.prepareRestore({ parent: tip.sha, filesOf: base.base_sha, message });
  return { ...textOf(issue), ...base, branch, head_sha: restored.sha };
}

function textOf({ title, body, labels, assignees }: Issue) {
  return { title, body, labels: [...labels], assignees: [...assignees] };
}

async function freshBase({ code }: Session) {
  const base = await code.head(code.defaultBranch);
  if (!base) throw new Error(`the default branch ${code.defaultBranch} has no commit`);
  return { branch: null, head_sha: null, base_branch: code.defaultBranch, base_sha: base.sha };
}
