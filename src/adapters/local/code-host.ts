import { CrunchError } from "../../errors.js";
import type { CodeHost } from "../../ports.js";
import { changesBetween } from "./changes-between.js";
import type { Identity, LocalGit } from "./git.js";
import { moveLocalBranch } from "./move-branch.js";
import { writeTree } from "./write-tree.js";

export interface LocalCodeHostOptions {
  /** The branch to start from, or a commit where no branch is checked out. */
  readonly defaultBranch: string;
}

const COMMIT = /^[0-9a-f]{40}$/;

export function createLocalCodeHost(git: LocalGit, { defaultBranch }: LocalCodeHostOptions): CodeHost {
  async function commit(sha: string) {
    const tree = COMMIT.test(sha)
      ? await git.text(["rev-parse", "--verify", "--quiet", `${sha}^{commit}^{tree}`], { toleratedExit: 1 })
      : "";
    if (tree === "") throw commitMissing(sha, git.root);
    return { sha, tree };
  }

  async function head(branch: string) {
    const ref = `refs/heads/${branch}`;
    // A name that is a folder of branches lists those within it too.
    const format = "--format=%(objectname) %(tree) %(refname)";
    const lines = (await git.text(["for-each-ref", format, ref])).split("\n");
    const [sha, tree] = lines.find((line) => line.endsWith(` ${ref}`))?.split(" ") ?? [];
    if (sha && tree) return { sha, tree };
    return branch === defaultBranch && COMMIT.test(branch) ? commit(branch) : null;
  }

  async function createCommit(tree: string, parent: string, message: string) {
    const sha = await git.text(["commit-tree", tree, "-p", parent], {
      input: Buffer.from(`${message.trimEnd()}\n`),
      identity: await identityOf(git),
    });
    return { sha, tree };
  }

  return {
    defaultBranch,
    head,
    commit,
    async prepareCommit({ parent, changes, message }) {
      const tree = await writeTree(git, parent.tree, changes);
      return createCommit(tree, parent.sha, message);
    },
    async prepareRestore({ parent, filesOf, message }) {
      const { tree } = await commit(filesOf);
      return createCommit(tree, parent, message);
    },
    changesBetween: (from, to) => changesBetween(git, from, to),
    moveBranch: async (branch, to, from) =>
      moveLocalBranch(git, { branch, to, from, identity: await identityOf(git) }),
    openPullRequest: async () => null,
  };
}

/** What is checked out: the name of a branch, or a commit. */
export async function checkedOut(git: LocalGit): Promise<string> {
  const sha = await git.text(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { toleratedExit: 1 });
  if (sha === "") {
    throw new CrunchError({
      code: "no_commit",
      message: `The checkout ${git.root} has no commit yet, so there is nothing to work on.`,
      hint: "Commit what is there (`git add -A && git commit`), then run Crunch again.",
    });
  }
  const ref = await git.text(["symbolic-ref", "--quiet", "HEAD"], { toleratedExit: 1 });
  return ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : sha;
}

/** Commits are the person's: they ran Crunch. A machine without an identity still gets its commits. */
async function identityOf(git: LocalGit): Promise<Identity> {
  const read = (name: string) => git.text(["config", "--get", name], { toleratedExit: 1 });
  const [name, email] = [await read("user.name"), await read("user.email")];
  return name.trim() && email.trim() ? { name, email } : { name: "crunch", email: "crunch@localhost" };
}

function commitMissing(sha: string, root: string): CrunchError {
  return new CrunchError({
    code: "commit_missing",
    message: `The commit ${JSON.stringify(sha.slice(0, 60))} is not in ${root}.`,
    hint: "Fetch it if it was made in another clone; if git has removed it, roll back to a checkpoint before it.",
  });
}
