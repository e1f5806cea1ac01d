import { planRollback, type RollbackPlan } from "../checkpoint/rollback.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { readArtifact } from "../engine/artifacts.js";
import { closingLease } from "../engine/lease.js";
import { completedPhases } from "../engine/standing.js";
import type { FileChange } from "../ports.js";
import { renderRollback } from "../render/rollback.js";
import { stateLabel } from "../workflow/labels.js";
import { phasesInOrder } from "../workflow/workflow.js";
import { type Addition, append } from "./append.js";
import { findCheckpoint } from "./find-checkpoint.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import { type Handling, showNow } from "./run-loop.js";

/**
 * Puts a run back to one of its checkpoints: state, label, code, notes and outputs together. It is itself a
 * checkpoint, and rolling back to the one before it undoes it. Nothing runs until somebody says so.
 */
export async function rollBack(handling: Handling, id: string): Promise<Outcome> {
  const { deps, event, loaded } = handling;
  const found = await findCheckpoint(handling, id);
  if (found.status === "refused") return found.outcome;
  const target = found.checkpoint;
  let undo = "";
  const rolledBack = await append(handling, async (latest) => {
    undo = latest.checkpoint_id;
    return addition(handling, latest, target);
  });
  if (!rolledBack) return { status: "ignored", reason: "no run has begun" };
  const shown = await showNow(handling, rolledBack, loaded.issue, "set");
  const text = renderRollback({ target, checkpoint: rolledBack, undo });
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "waiting", reason: "rolled_back", checkpoint: shown, text };
}

async function addition(handling: Handling, latest: Checkpoint, target: Checkpoint): Promise<Addition> {
  const { deps, loaded, sessionId } = handling;
  const { workflow } = loaded.plan;
  const plan = planRollback(
    latest,
    target,
    phasesInOrder(workflow).map(({ name }) => name),
  );
  const files = await filesOf(handling, plan);
  const head = await restoredCode(handling, latest, target, plan);
  const run = latest.orchestrator_state;
  const holder = { id: sessionId, holder: deps.holder, clock: deps.clock };
  return {
    parent: target.checkpoint_id,
    options: { files, codeCommit: head },
    change: {
      ...{
        type: "PRE",
        trigger: "rollback",
        outcome: null,
        pause: { kind: "rollback" },
        lease: closingLease(holder),
      },
      workflow_state: {
        ...target.workflow_state,
        current_phase: plan.phase,
        current_state_label: stateLabel(plan.phase),
        phase_attempt: 1,
      },
      orchestrator_state: {
        ...run,
        current_phase: plan.phase,
        phases: plan.phases,
        completed_phases: completedPhases(workflow, plan.phases),
      },
      issue_snapshot: { ...latest.issue_snapshot, head_sha: head },
      execution_graph: target.execution_graph,
      agent_outputs: target.agent_outputs,
      governance_results: target.governance_results,
      acceptance_criteria: target.acceptance_criteria,
      artifacts: plan.artifacts,
      notes: plan.notes,
      partial_work: plan.partialWork,
      files_modified: [],
      metadata: {
        rollback_from: latest.checkpoint_id,
        rollback_to: target.checkpoint_id,
        archived: plan.archived.map((artifact) => ({ ...artifact })),
      },
    },
  };
}

async function filesOf({ store, event }: Handling, plan: RollbackPlan): Promise<FileChange[]> {
  const files: FileChange[] = plan.remove.map((path) => ({
    path,
    mode: "100644",
    content: null,
    status: "deleted",
  }));
  for (const artifact of plan.restore) {
    const content = await readArtifact(store, event.issue, artifact);
    files.push({ path: artifact.path, mode: "100644", content, status: "modified" });
  }
  return files;
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
