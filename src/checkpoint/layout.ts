import { CrunchError } from "../errors.js";
import { CheckpointId } from "./id.js";

/** Where a chain's files are, relative to the issue's folder and to the root of the branch. */
export const indexPath = "checkpoints/index.yaml";
export const latestPath = "checkpoints/latest";

export function checkpointPath(id: string): string {
  return `checkpoints/${fileName(id)}`;
}

/** The file of a checkpoint. An id is checked before it becomes a name. */
export function fileName(id: string): string {
  if (!CheckpointId.safeParse(id).success) {
    throw new CrunchError({
      code: "checkpoint_id_invalid",
      message: `${JSON.stringify(id.slice(0, 60))} is not a checkpoint id.`,
      hint: "Ids look like CP-enrich-20250114-a3f2; the sticky comment and index.yaml list them.",
    });
  }
  return `${id}.yaml`;
}

/** The issue's own folder, in the agent's workspace and on the checkpoint branch. */
export function issueFolder(issue: number): string {
  return `.claude/crunch/${issue}`;
}
