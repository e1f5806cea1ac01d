import { CrunchError, messageOf } from "../../errors.js";
import type { Identity, LocalGit } from "./git.js";

const TRIES = 3;
const NOWHERE = "0".repeat(40);

export interface LocalMove {
  readonly branch: string;
  readonly to: string;
  /** Null: the branch is thought not to exist. */
  readonly from: string | null;
  readonly identity: Identity;
}

/**
 * Moves a branch forward by compare-and-swap. As on GitHub it may advance from wherever it is, but only to a commit
 * that has its tip among its ancestors; one that was deleted meanwhile is not made again.
 */
export async function moveLocalBranch(git: LocalGit, move: LocalMove): Promise<"moved" | "diverged"> {
  const { branch, to, from, identity } = move;
  const ref = `refs/heads/${branch}`;
  await refuseBadName(git, branch);
  for (let attempt = 1; ; attempt++) {
    const tip = await tipOf(git, ref);
    // Already there, or people have built on it by now.
    if (tip !== null && (await holds(git, tip, to))) return "moved";
    const isForward = tip === null ? from === null : await holds(git, to, tip);
    if (!isForward) return "diverged";
    await refuseCheckedOut(git, branch);
    try {
      const args = ["update-ref", "--no-deref", "-m", "crunch: publish", ref, to, tip ?? NOWHERE];
      await git.run(args, { identity });
      return "moved";
    } catch (cause) {
      // Somebody was faster, or holds the lock right now: the branch itself tells.
      if (attempt === TRIES) throw notMoved(branch, cause);
    }
  }
}

async function tipOf(git: LocalGit, ref: string): Promise<string | null> {
  const sha = await git.text(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { toleratedExit: 1 });
  return sha === "" ? null : sha;
}

/** Whether `commit` is `tip` or an ancestor of it. */
async function holds(git: LocalGit, tip: string, commit: string): Promise<boolean> {
  if (tip === commit) return true;
  return (await git.text(["merge-base", commit, tip], { toleratedExit: 1 })) === commit;
}

async function refuseBadName(git: LocalGit, branch: string): Promise<void> {
  try {
    await git.run(["check-ref-format", `refs/heads/${branch}`]);
  } catch (cause) {
    throw new CrunchError({
      code: "branch_name_invalid",
      message: `${JSON.stringify(branch)} is not a name that git takes for a branch.`,
      hint: "Correct `branch` in .github/crunch.yml and commit it, then run Crunch again.",
      cause,
    });
  }
}

/** Under a work tree that has it checked out, a moved branch would make every change look undone by the person. */
async function refuseCheckedOut(git: LocalGit, branch: string): Promise<void> {
  const trees = (await git.text(["worktree", "list", "--porcelain"])).split("\n\n");
  const tree = trees.find((lines) => lines.split("\n").includes(`branch refs/heads/${branch}`));
  if (tree === undefined) return;
  const folder = /^worktree (.*)$/m.exec(tree)?.[1] ?? git.root;
  throw new CrunchError({
    code: "branch_checked_out",
    message: `The branch ${branch} is checked out in ${folder}, so Crunch does not move it.`,
    hint:
      "Nothing is lost: the commit is kept with the checkpoint. Go to that folder, switch away from the branch " +
      "(`git switch --detach` keeps your files as they are), then run Crunch again.",
  });
}

function notMoved(branch: string, cause: unknown): CrunchError {
  return new CrunchError({
    code: "branch_not_moved",
    message: `The branch ${branch} could not be moved. ${messageOf(cause)}`,
    hint:
      "Another git command may be at work, or may have left a `.lock` file behind; a branch can't be made either " +
      "where another has the name of its folder. Put that right, then run Crunch again: the commit is kept.",
    cause,
  });
}
