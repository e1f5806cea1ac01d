import type { FileChange, Workspace } from "../../ports.js";
import { refreshIndex, toText, trackedChanges } from "./file-index.js";
import type { PrivateGit } from "./private-git.js";
import { putBack } from "./put-back.js";
import { readChanges } from "./read-changes.js";
import { deleteInside, writeInside } from "./write-inside.js";

interface Opening {
  readonly sha: string;
  /** The paths that the commit has: a folder that was there before may hold others. */
  readonly committed: ReadonlySet<string>;
  readonly outputFolder: string;
}

interface Last {
  readonly sha: string;
  readonly committed: ReadonlySet<string>;
  readonly isUnchanged: () => Promise<boolean>;
}

/** A workspace in a folder that holds the files of a commit, which the private index names already. */
export async function openWorkspace(
  git: PrivateGit,
  directory: string,
  { sha, committed, outputFolder }: Opening,
  onClose: (last: Last) => Promise<void>,
): Promise<Workspace> {
  const refresh = (refuseHuge: boolean) => refreshIndex(git, directory, { refuseHuge, outputFolder });
  const tree = async () => (await git.run(["write-tree"], { workTree: directory })).toString("latin1").trim();
  const snapshot = async (refuseHuge: boolean) => {
    await refresh(refuseHuge);
    return tree();
  };
  let baseSha = sha;
  let known = new Set(committed);
  // What the repository has already is not for Crunch to refuse.
  let baseline = await snapshot(false);
  let found: readonly FileChange[] = [];
  let isOpen = true;
  return {
    directory,
    get baseSha() {
      return baseSha;
    },
    async seed(files) {
      for (const { path, content } of files) {
        await writeInside(directory, { path, content, mode: "100644" });
        known.add(path);
      }
      baseline = await snapshot(false);
    },
    async apply(changes) {
      // First what goes: a file may have become a folder, or a folder a file.
      for (const { path, content } of changes) if (content === null) await deleteInside(directory, path);
      for (const { path, mode, content } of changes)
        if (content !== null) await writeInside(directory, { path, mode, content });
    },
    async contentBefore(path) {
      const listed = await git.run(["ls-tree", "-z", baseline, "--", path], { workTree: directory });
      const blob = /^\d+ blob ([0-9a-f]+)\t/.exec(listed.toString("latin1"))?.[1];
      return blob === undefined ? null : git.run(["cat-file", "blob", blob], { workTree: directory });
    },
    async changes() {
      await refresh(true);
      const changes = await readChanges(git, directory, baseline);
      // Nobody can delete from the repository what it does not have, and GitHub refuses a commit that tries to.
      found = changes.filter(({ path, content }) => content !== null || known.has(path));
      return found;
    },
    async touched() {
      // Without it, a file that was written again with the same bytes would count.
      const args = ["update-index", "-q", "--refresh"];
      await git.run(args, { workTree: directory, toleratedExit: 1 });
      const { gone, changed } = await trackedChanges(git, directory);
      return [...gone, ...changed].map(toText);
    },
    async settle(next) {
      await putBack(git, directory, outputFolder);
      baseline = await tree();
      known = withChanges(known, found);
      found = [];
      baseSha = next;
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      const isUnchanged = async () => (await snapshot(true)) === baseline;
      await onClose({ sha: baseSha, committed: known, isUnchanged });
    },
  };
}

function withChanges(paths: ReadonlySet<string>, changes: readonly FileChange[]): Set<string> {
  const after = new Set(paths);
  for (const { path, content } of changes) {
    if (content === null) after.delete(path);
    else after.add(path);
  }
  return after;
}
