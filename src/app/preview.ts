import { planRollback } from "../checkpoint/rollback.js";
import { currentStanding } from "../engine/situation.js";
import { nextPhaseOf } from "../engine/standing.js";
import { renderPreview } from "../render/preview.js";
import { phasesInOrder } from "../workflow/workflow.js";
import { findCheckpoint } from "./find-checkpoint.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import type { Handling } from "./run-loop.js";

/** Answers `/crunch resume --dry-run`: what would be restored, and from where it would go on. */
export async function answerPreview(handling: Handling, id: string | null): Promise<Outcome> {
  const { deps, event, loaded, situation } = handling;
  const found = await findCheckpoint(handling, id ?? "latest");
  if (found.status === "refused") return found.outcome;
  const { checkpoint } = found;
  const { workflow, layout } = loaded.plan;
  const order = phasesInOrder(workflow).map(({ name }) => name);
  const isLatest = checkpoint.checkpoint_id === loaded.latest?.checkpoint_id;
  const plan =
    loaded.latest && !isLatest
      ? planRollback(loaded.latest, checkpoint, order, layout, nextPhaseOf(workflow))
      : null;
  const text = renderPreview({
    checkpoint,
    phase: plan?.phase ?? currentStanding(situation).phase,
    rollback: plan,
    findings: loaded.seen?.freshness.findings ?? [],
  });
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "answered", checkpoint, text };
}
