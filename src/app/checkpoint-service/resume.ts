import { nextCheckpoint } from "../../checkpoint/create.js";
import { blockedTasks, pendingBatches, restoreGraph, resumePoint } from "../../checkpoint/execution-graph.js";
import { assessFreshness, type Freshness, type World } from "../../checkpoint/freshness.js";
import { isTakenUp, reopened } from "../../checkpoint/moments/begin.js";
import { rollbackPlan } from "../../checkpoint/moments/go-back.js";
import { changeFor } from "../../checkpoint/moments/index.js";
import type { Moment } from "../../checkpoint/moments/moment.js";
import { openPhase, stateOf } from "../../checkpoint/moments/run.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { add, type ServiceContext } from "./context.js";
import { load } from "./read.js";
import type { Reason, Resumable, ResumeOptions, Resumption } from "./resumption.js";
import { outcomeOf, rollBack } from "./roll-back.js";
import { asReason, brokenFiles, unfinishedFiles } from "./sound-files.js";

/**
 * The way back: load, integrity, freshness, prerequisites, state, graph. All is looked at before anything is stored.
 * What was cut off is claimed as a further attempt, so that a session that dies again and again can be told.
 */
export async function resume(
  context: ServiceContext,
  issue: number,
  options: ResumeOptions,
): Promise<Resumption> {
  const { store, maker, layout } = context;
  const { world, accept = [], dryRun = false } = options;
  let latest: Checkpoint;
  let target: Checkpoint;
  let planned: Checkpoint;
  try {
    latest = await load(store, issue, "latest");
    target = options.checkpoint === undefined ? latest : await load(store, issue, options.checkpoint);
    planned = isSame(latest, target)
      ? latest
      : applied(latest, { trigger: "rollback", target, layout }, maker);
  } catch (error) {
    return { status: "not_resumable", reasons: [asReason(error)], freshness: null };
  }
  // What the run knew last is what the world is compared with, also when it is to go back further.
  const freshness = world ? assessFreshness(latest, world) : null;
  const reasons = [...reasonsAgainst(planned, freshness), ...(await brokenFiles(store, target))];
  const phase = openPhase(planned);
  if (reasons.length > 0 || phase === null) return { status: "not_resumable", reasons, freshness };
  if (freshness && hasQuestion(freshness, accept)) return { status: "stale", checkpoint: target, freshness };

  const plan = isSame(latest, target) ? null : outcomeOf(rollbackPlan(latest, target, undefined, layout));
  const back = plan && !dryRun ? (await rollBack(context, issue, target.checkpoint_id)).checkpoint : planned;
  const moment = claim(phase, world);
  const standing = standingOf(back, phase);
  const take = standing === "running" && !dryRun;
  const now = () => maker.now().toISOString();
  const stored = take
    ? await add(context, issue, (found) => ({ change: changeFor(found, moment, now()) }))
    : back;
  const taken = standing === "running" && dryRun ? applied(back, moment, maker) : stored;
  return {
    status: "resumable",
    checkpoint: dryRun ? target : stored,
    ...{ phase, standing, ...workLeft(taken) },
    warnings: [
      ...target.recovery_info.warnings,
      ...(freshness?.findings ?? []).map(({ message }) => message),
    ],
    unfinished: standing === "running" ? await unfinishedFiles(store, taken) : [],
    restored: plan?.restored ?? [],
    removed: plan?.removed ?? [],
    codeTreeOf: plan?.codeTreeOf ?? null,
  };
}

const isSame = (one: Checkpoint, other: Checkpoint) => one.checkpoint_id === other.checkpoint_id;

/** As it would be stored, and is not. */
function applied(latest: Checkpoint, moment: Moment, maker: ServiceContext["maker"]): Checkpoint {
  return nextCheckpoint(latest, changeFor(latest, moment, maker.now().toISOString()), maker);
}

function claim(phase: string, world: World | undefined): Moment<"phase_start"> {
  if (!world) return { trigger: "phase_start", phase };
  const { title, body, labels, branchSha } = world;
  // The world as it is now wins: what a person has accepted is not asked about again.
  const snapshot = { title, body, labels: [...labels], ...(branchSha !== null && { head_sha: branchSha }) };
  return { trigger: "phase_start", phase, snapshot };
}

function standingOf(run: Checkpoint, phase: string): Resumable["standing"] {
  if (stateOf(run, phase).status === "waiting") return "waiting";
  return isTakenUp(run, phase) ? "running" : "next";
}

function workLeft({ execution_graph }: Checkpoint) {
  const graph = restoreGraph(execution_graph);
  return { graph, batches: pendingBatches(graph.node_states), resumeFrom: resumePoint(graph) };
}

function reasonsAgainst(run: Checkpoint, freshness: Freshness | null): readonly Reason[] {
  const { can_resume } = run.recovery_info;
  const blocked = blockedTasks(reopened(run.execution_graph.node_states));
  const deleted = freshness?.findings.filter(({ severity }) => severity === "error") ?? [];
  return [
    ...(can_resume
      ? []
      : [{ code: "run_over", message: "The run is over: nothing is left to do.", hint: "Begin a new run." }]),
    ...blocked.map((task) => ({
      code: "task_blocked",
      message: `The task ${task} can never be done: what it needs is missing, or needs it in turn.`,
      hint: "Roll back to the start of the phase, and plan its tasks anew.",
    })),
    ...deleted.map(({ kind, message }) => ({
      ...{ code: kind, message },
      hint: "Restore the branch, or begin a new run.",
    })),
  ];
}

/** Only what was shown can be accepted: another kind of change that came since is asked about again. */
function hasQuestion({ findings }: Freshness, accepted: readonly string[]): boolean {
  return findings.some(({ kind, severity }) => severity === "question" && !accepted.includes(kind));
}
