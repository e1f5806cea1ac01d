import type { RollbackPlan } from "../checkpoint/rollback.js";
import { readArtifact } from "../engine/artifacts.js";
import type { CheckpointStore, FileChange } from "../ports.js";

/** The issue's files as a rollback leaves them: brought back by their hash, or taken away. */
export async function rollbackFiles(
  store: CheckpointStore,
  issue: number,
  plan: RollbackPlan,
): Promise<FileChange[]> {
  const mode = "100644";
  const files = plan.remove.map((path): FileChange => ({ path, mode, content: null, status: "deleted" }));
  for (const artifact of plan.restore) {
    const content = await readArtifact(store, issue, artifact);
    files.push({ path: artifact.path, mode, content, status: "modified" });
  }
  return files;
}
