import { rollbackPlan } from "../checkpoint/moments/go-back.js";
import { changeFor } from "../checkpoint/moments/index.js";
import type { RollbackPlan } from "../checkpoint/rollback.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { closingLease } from "../engine/lease.js";
import { renderRollback } from "../render/rollback.js";
import { phasesInOrder } from "../workflow/workflow.js";
import { type Addition, append } from "./append.js";
import { findCheckpoint } from "./find-checkpoint.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import { rollbackFiles } from "./rollback-files.js";
import { type Handling, showNow } from "./run-loop.js";

/**
 * Puts a run back to one of its checkpoints: state, label, code, notes and outputs together. It is itself a
 * checkpoint, and rolling back to the one before it undoes it. Nothing runs until somebody says so.
 */
export async function rollBack(handling: Handling, id: string): Promise<Outcome | "gave_way"> {
  const { deps, event, loaded } = handling;
  const found = await findCheckpoint(handling, id);
  if (found.status === "refused") return found.outcome;
  const target = found.checkpoint;
  let undo = "";
  const rolledBack = await append(handling, async (latest) => {
    undo = latest.checkpoint_id;
    return addition(handling, latest, target);
  });
  if (rolledBack === "held") return "gave_way";
  if (!rolledBack) return { status: "ignored", reason: "no run has begun" };
  const shown = await showNow(handling, rolledBack, loaded.issue, "set");
  const text = renderRollback({ target, checkpoint: rolledBack, undo });
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "waiting", reason: "rolled_back", checkpoint: shown, text };
}

async function addition(handling: Handling, latest: Checkpoint, target: Checkpoint): Promise<Addition> {
  const { deps, loaded, sessionId, store } = handling;
  const order = phasesInOrder(loaded.plan.workflow).map(({ name }) => name);
  const plan = rollbackPlan(latest, target, order);
  const head = await restoredCode(handling, latest, target, plan);
  const now = deps.clock.now().toISOString();
  return {
    parent: target.checkpoint_id,
    options: { files: await rollbackFiles(store, target.issue_number, plan), codeCommit: head },
    change: {
      ...changeFor(latest, { trigger: "rollback", target, order }, now),
      lease: closingLease({ id: sessionId, holder: deps.holder, clock: deps.clock }),
      issue_snapshot: { ...latest.issue_snapshot, head_sha: head },
    },
  };
}

/** The code as it was, as a commit on top of what is there now; what others pushed since stays in the history. */
async function restoredCode({ deps }: Handling, latest: Checkpoint, target: Checkpoint, plan: RollbackPlan) {
  const { branch, head_sha: head } = latest.issue_snapshot;
  if (plan.codeTreeOf === null || branch === null || head === null) return head;
  const tip = await deps.code.head(branch);
  const message = `Roll back to ${target.checkpoint_id}`;
  const restored = await deps.code.prepareRestore({
    parent: tip?.sha ?? head,
    filesOf: plan.codeTreeOf,
    message,
  });
  return restored.sha;
}
