import { randomBytes } from "node:crypto";
import type { ExtendedIndex } from "../../checkpoint/extend-index.js";
import { fileName } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import type { StorageOptions } from "../../checkpoint/storage-options.js";
import type { FileChange, PutOptions } from "../../ports.js";
import { statusOf } from "./client.js";
import { createCommit, type GitCommit, type TreeEntry, treeEntries } from "./git-data.js";
import type { Repository } from "./repository.js";

/** All that a put writes and takes away as one commit, to which no branch points yet. */
export async function commitCheckpoint(
  repository: Repository,
  own: {
    readonly checkpoint: Checkpoint;
    readonly content: Buffer | string;
    readonly next: ExtendedIndex;
    readonly storage: StorageOptions;
  },
  tip: GitCommit | null,
  { files = [], codeCommit }: PutOptions,
): Promise<GitCommit> {
  const { layout, compress } = own.storage;
  const { issue_number: issue, checkpoint_id: id } = own.checkpoint;
  const folder = `${layout.folder(issue)}/`;
  const written = [
    ...files,
    fileOf(layout.checkpoint(id, compress), own.content),
    ...own.next.pages.map(({ number, text }) => fileOf(layout.page(number), text)),
    fileOf(layout.index, own.next.index.text),
    { ...fileOf(layout.latest, fileName(id, compress)), mode: "120000" as const },
  ];
  const entries = await treeEntries(repository, written, folder);
  const removed: TreeEntry[] = own.next.removed.map((entry) => {
    const path = folder + layout.checkpoint(entry.checkpoint_id, entry.compressed);
    return { path, mode: "100644", type: "blob", sha: null };
  });
  const parents = [tip?.sha, codeCommit].filter((sha) => typeof sha === "string");
  const rest = { baseTree: tip?.tree ?? null, parents, message: commitMessage(own.checkpoint) };
  try {
    return await createCommit(repository, { ...rest, entries: [...entries, ...removed] });
  } catch (error) {
    // GitHub refuses to delete what somebody has deleted already: then the files stay that are still there.
    if (removed.length === 0 || statusOf(error) !== 422) throw error;
    return createCommit(repository, { ...rest, entries });
  }
}

function fileOf(path: string, content: Buffer | string): FileChange {
  return { path, mode: "100644", content: Buffer.from(content), status: "modified" };
}

/** `[skip ci]`: a checkpoint starts nobody's CI. The nonce keeps two racers with equal content from sharing a SHA. */
function commitMessage(checkpoint: Checkpoint): string {
  const { checkpoint_id, trigger, outcome, workflow_state: state } = checkpoint;
  const what = `${state.current_phase}: ${trigger}${outcome ? ` (${outcome})` : ""}`;
  return `${what} [skip ci]\n\nCheckpoint: ${checkpoint_id}\nNonce: ${randomBytes(8).toString("hex")}\n`;
}
