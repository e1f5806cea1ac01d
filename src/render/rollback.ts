import type { Checkpoint } from "../checkpoint/schema.js";

/** What a rollback did, and how to go on or take it back. */
export function renderRollback(view: {
  readonly target: Checkpoint;
  readonly checkpoint: Checkpoint;
  readonly undo: string;
}): string {
  const { target, checkpoint, undo } = view;
  const phase = checkpoint.workflow_state.current_phase;
  const archived = Array.isArray(checkpoint.metadata.archived) ? checkpoint.metadata.archived.length : 0;
  const kept = archived === 0 ? "" : ` ${archived} files of later phases were archived, none deleted.`;
  return [
    `**Rolled back** to \`${target.checkpoint_id}\` of ${target.created_at}, recorded as \`${checkpoint.checkpoint_id}\`. Next is \`${phase}\`.${kept}`,
    `- \`/crunch resume\`: go on from here\n- \`/crunch rollback ${undo}\`: undo this`,
  ].join("\n\n");
}
