import { rollbackPlan } from "../checkpoint/moments/go-back.js";
import { changeFor } from "../checkpoint/moments/index.js";
import type { RollbackPlan } from "../checkpoint/rollback.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { closingLease } from "../engine/lease.js";
import { nextPhaseOf } from "../engine/standing.js";
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
  if (rolledBack === "held" || rolledBack === "void") return "gave_way";
  if (!rolledBack) return { status: "ignored", reason: "no run has begun" };
  const shown = await showNow(handling, rolledBack, loaded.issue, "set");
  const text = renderRollback({ target, checkpoint: rolledBack, undo });
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "waiting", reason: "rolled_back", checkpoint: shown, text };
}

async function addition(handling: Handling, latest: Checkpoint, target: Checkpoint): Promise<Addition> {
  const { deps, loaded, sessionId, store } = handling;
  const order = phasesInOrder(loaded.plan.workflow).map(({ name }) => name);
  const { layout } = loaded.plan;
  const nextPhase = nextPhaseOf(loaded.plan.workflow);
  const plan = rollbackPlan(latest, target, order, layout, nextPhase);
  const code = await restoredCode(handling, latest, target, plan);
  const now = deps.clock.now().toISOString();
  return {
    parent: target.checkpoint_id,
    options: { files: await rollbackFiles(store, target.issue_number, plan), codeCommit: code.head_sha },
    change: {
      ...changeFor(latest, { trigger: "rollback", target, order, layout, nextPhase }, now),
      lease: closingLease({ id: sessionId, holder: deps.holder, clock: deps.clock }),
      issue_snapshot: { ...latest.issue_snapshot, ...code },
    },
  };
}

/**
 * The code as it was, as a commit on top of what is there now; what others pushed since stays in the history. A run
 * that began again may have no branch any more: then the target's is made again, from what its code was based on.
 */
async function restoredCode({ deps }: Handling, latest: Checkpoint, target: Checkpoint, plan: RollbackPlan) {
  const { issue_snapshot: now } = latest;
  const { issue_snapshot: then } = target;
  const branch = now.branch ?? then.branch;
  if (plan.codeTreeOf === null || branch === null) return { branch: now.branch, head_sha: now.head_sha };
  const tip = await deps.code.head(branch);
  const parent = tip?.sha ?? now.head_sha ?? then.base_sha;
  const message = `Roll back to ${target.checkpoint_id}`;
  const restored = await deps.code.prepareRestore({ parent, filesOf: plan.codeTreeOf, message });
  // What is new on the base since is not in these files: measured by it, they would seem to take it away.
  const base = parent === then.base_sha ? { base_sha: then.base_sha, base_branch: then.base_branch } : {};
  return { branch, head_sha: restored.sha, ...base };
}
