import type { Checkpoint } from "../../checkpoint/schema.js";
import { readArtifact } from "../../engine/artifacts.js";
import { CrunchError } from "../../errors.js";
import type { CheckpointStore, FileChange } from "../../ports.js";
import type { Reason } from "./resumption.js";

/** What is wrong with the files that a checkpoint names: each has to be there, with the content it had. */
export async function brokenFiles(
  store: CheckpointStore,
  { issue_number: issue, artifacts, notes, partial_work }: Checkpoint,
): Promise<readonly Reason[]> {
  const named = [...Object.values(artifacts), ...Object.values(notes), ...partial_work];
  const reasons: Reason[] = [];
  for (const { path, hash } of named) {
    if (hash === null) continue;
    try {
      await readArtifact(store, issue, { path, hash });
    } catch (error) {
      reasons.push(asReason(error));
    }
  }
  return reasons;
}

export async function unfinishedFiles(
  store: CheckpointStore,
  { issue_number: issue, partial_work }: Checkpoint,
): Promise<readonly FileChange[]> {
  const files: FileChange[] = [];
  for (const { path, mode, status, hash } of partial_work) {
    const content = hash === null ? null : await readArtifact(store, issue, { path, hash });
    files.push({ path, mode, status, content });
  }
  return files;
}

/** An expected error as a reason; any other, like a network that is down, says nothing about the chain. */
export function asReason(error: unknown): Reason {
  if (!(error instanceof CrunchError)) throw error;
  const { code, message, hint } = error;
  return { code, message, hint };
}
