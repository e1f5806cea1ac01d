import { emptyRun } from "../checkpoint/create.js";
import { newCheckpointId } from "../checkpoint/id.js";
import { recoveryInfo } from "../checkpoint/recovery.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { unknownCommit } from "../checkpoint/versions/from-1-0.js";
import type { ImportOptions } from "./imported.js";
import { idPart } from "./outside.js";

export type Draft = Pick<Checkpoint, "created_at" | "workflow_state"> & Partial<Checkpoint>;

/** Makes the checkpoints of a chain one after another: ids, parents and places; the rest is the layout's to say. */
export function createDrafter(options: ImportOptions, startedBy: string) {
  const { issue, maker } = options;
  const snapshot = options.snapshot ?? {
    ...{ title: `Issue ${issue}`, body: "", labels: [], assignees: [], branch: null, head_sha: null },
    ...{ base_branch: "main", base_sha: unknownCommit },
  };
  const run = emptyRun({
    issue,
    workflow: "crunch",
    phase: "enrich",
    phases: {},
    snapshot,
    startedBy,
    maker,
  });
  const taken = new Set<string>();
  let last: Checkpoint | null = null;

  return function next(draft: Draft): Checkpoint {
    const sequence: number = (last?.sequence ?? 0) + 1;
    const checkpoint_id = newCheckpointId({
      phase: idPart(draft.workflow_state.current_phase),
      sequence,
      now: new Date(draft.created_at),
      isTaken: (id) => taken.has(id),
      randomHex: maker.randomHex,
    });
    taken.add(checkpoint_id);
    const made: Checkpoint = {
      ...run,
      ...draft,
      ...{ version: "1.1", issue_number: issue, session_id: maker.sessionId, lease: null },
      ...{ checkpoint_id, sequence },
      // Only a rollback names another parent than the one before it: the checkpoint it goes back to.
      parent_checkpoint_id: draft.parent_checkpoint_id ?? last?.checkpoint_id ?? null,
    };
    last = { ...made, recovery_info: recoveryInfo(made) };
    return last;
  };
}
