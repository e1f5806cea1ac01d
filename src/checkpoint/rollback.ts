import { CrunchError } from "../errors.js";
import { defaultLayout, type Layout } from "./layout.js";
import type { Artifact, Checkpoint, PhaseState } from "./schema.js";

type Phases = Checkpoint["orchestrator_state"]["phases"];

/** What has to become of a run for it to be again as it was at one of its checkpoints. Nothing is done yet. */
export interface RollbackPlan {
  readonly phases: Phases;
  /** Where the run goes on. */
  readonly phase: string;
  readonly artifacts: Checkpoint["artifacts"];
  readonly notes: Checkpoint["notes"];
  /** What a stopped agent had done by then, for the next attempt; empty when the phase had ended. */
  readonly partialWork: Checkpoint["partial_work"];
  /** Files of the issue's folder whose content has to be brought back from `artifacts/<hash>`. */
  readonly restore: readonly { readonly path: string; readonly hash: string }[];
  /** Files that are live now and were not there then. Their content stays in `artifacts/<hash>`. */
  readonly remove: readonly string[];
  /** What is no longer live: removed, or with other content again. */
  readonly archived: readonly Artifact[];
  /** The commit whose tree the code branch must have again, by a new commit; null when it can stay as it is. */
  readonly codeTreeOf: string | null;
}

/** Where a run with these phases goes on. */
export type NextPhase = (phases: Phases) => string;

/**
 * `target` may be any checkpoint of the chain, also one newer than a rollback, which undoes that rollback. `order` is
 * the workflow's phases in the order they run, the terminal one last; `layout` tells which folder the chain's own is.
 */
export function planRollback(
  current: Checkpoint,
  target: Checkpoint,
  order: readonly string[],
  layout: Pick<Layout, "chain"> = defaultLayout,
  nextPhase: NextPhase = (phases) =>
    order.find((each) => phases[each]?.status === "pending") ?? order.at(-1) ?? "",
): RollbackPlan {
  const name = target.workflow_state.current_phase;
  if (!order.includes(name)) throw unknownPhase(name);
  const isOver = hasEnded(target);
  const phases = phasesAt(current, target, order);
  const live = filesOf(current, layout);
  const then = filesOf(target, layout);
  return {
    phases,
    phase: nextPhase(phases),
    artifacts: target.artifacts,
    notes: target.notes,
    partialWork: target.partial_work.filter(({ task }) => {
      const phase = task?.split("/")[0] ?? name;
      return phase === name ? !isOver && !hasFailed(target) : !isDone(phases[phase]);
    }),
    restore: [...then.values()]
      .filter(({ path, hash }) => live.get(path)?.hash !== hash)
      .map(({ path, hash }) => ({ path, hash })),
    remove: [...live.keys()].filter((path) => !then.has(path)),
    archived: [...live.values()].filter(({ path, hash }) => then.get(path)?.hash !== hash),
    codeTreeOf: codeTreeOf(current, target),
  };
}

/**
 * Whether the target's phase was over by then. Its trigger does not say: a manual checkpoint is of whatever state it
 * was saved in, and a failure or an interrupt is the end of an attempt, but not of the phase.
 */
function hasEnded({ type, workflow_state, orchestrator_state }: Checkpoint): boolean {
  const status = orchestrator_state.phases[workflow_state.current_phase]?.status;
  return type === "POST" && (status === "succeeded" || status === "skipped");
}

/** What a failed attempt left is for people to look at; only work that was cut off is taken up. */
function hasFailed({ error }: Checkpoint): boolean {
  return error !== null && error.code !== "agent_timed_out";
}

/** What had ended by then has ended; all else is to be done. The terminal phase ends as soon as the run is there. */
function phasesAt(current: Checkpoint, target: Checkpoint, order: readonly string[]): Phases {
  const now = new Map(Object.entries(current.orchestrator_state.phases));
  const then = new Map(Object.entries(target.orchestrator_state.phases));
  const waiting = keptQuestions(target);
  // Phases that the workflow no longer has are kept as they are: should it get them back, their versions go on.
  const dropped = [...then, ...now].filter(([name]) => !order.includes(name)).reverse();
  const states = new Map<string, PhaseState>(dropped);
  const last = Math.max(...order.map((name, at) => (isDone(then.get(name)) ? at : -1)));
  for (const [at, name] of order.entries()) {
    const state = then.get(name);
    // A phase that the workflow got only later counts as done where others after it were.
    if (!state && at < last) states.set(name, { ...untouched, status: "skipped" });
    else if (state && ((isDone(state) && at < order.length - 1) || Object.hasOwn(waiting, name)))
      states.set(name, state);
    else states.set(name, hasBegun(state) ? { ...untouched, due: true } : untouched);
  }
  const end = order.at(-1);
  const isAtEnd = order.every((name) => name === end || states.get(name)?.status !== "pending");
  if (end !== undefined && isAtEnd) states.set(end, { ...untouched, status: "succeeded" });
  const versioned = [...states].map(([name, state]) => {
    const version = Math.max(now.get(name)?.version ?? 0, then.get(name)?.version ?? 0);
    return [name, { ...state, version }] as const;
  });
  return Object.fromEntries(versioned);
}

const untouched: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
/** Whatever led there, it was at work or about to begin. */
const hasBegun = (state: PhaseState | undefined) =>
  state?.due === true || (state !== undefined && ["running", "waiting", "failed"].includes(state.status));

/** What was asked about work that is done: it is asked still, since the work is not done again. */
export function keptQuestions({ run_state }: Checkpoint): NonNullable<Checkpoint["run_state"]>["questions"] {
  const asked = Object.entries(run_state?.questions ?? {});
  return Object.fromEntries(asked.filter(([, { question }]) => question.purpose === "output"));
}

const isDone = (state: PhaseState | undefined) =>
  state?.status === "succeeded" || state?.status === "skipped";

/** The files of the issue's folder at a checkpoint: outputs, and each agent's notes. */
function filesOf(
  { artifacts, notes }: Checkpoint,
  layout: Pick<Layout, "chain">,
): ReadonlyMap<string, Artifact> {
  const files = new Map<string, Artifact>();
  for (const artifact of Object.values(artifacts)) {
    refuseReserved(artifact.path, layout);
    files.set(artifact.path, artifact);
  }
  for (const [agent, note] of Object.entries(notes)) {
    const path = `notes/${agent}.md`;
    if (agent.includes("/")) throw reservedPath(path);
    files.set(path, { ...note, path });
  }
  return files;
}

/** A forged checkpoint must not make a rollback write over the chain, or outside the issue's folder. */
export function refuseReserved(path: string, { chain }: Pick<Layout, "chain"> = defaultLayout): void {
  const segments = path.split("/");
  const isOdd = segments.some((segment) => segment === "" || segment === "." || segment === "..");
  const isOurs = [chain.toLowerCase(), "artifacts", "notes"].includes(segments[0]?.toLowerCase() ?? "");
  if (isOdd || isOurs) throw reservedPath(path);
}

/** The branch's own commits differ after a rollback and its undoing, though their trees may be the same. */
function codeTreeOf(
  { issue_snapshot: now }: Checkpoint,
  { issue_snapshot: then }: Checkpoint,
): string | null {
  if (now.head_sha === then.head_sha) return null;
  return then.head_sha ?? then.base_sha;
}

function unknownPhase(name: string): CrunchError {
  return new CrunchError({
    code: "rollback_phase_unknown",
    message: `The checkpoint is of the phase ${JSON.stringify(name)}, which the workflow no longer has.`,
    hint: "Choose a checkpoint of another phase, or put the phase back into the workflow.",
  });
}

function reservedPath(path: string): CrunchError {
  return new CrunchError({
    code: "checkpoint_invalid",
    message: `The checkpoint names ${JSON.stringify(path.slice(0, 100))} as a file of the issue's folder.`,
    hint: "Crunch never writes that. Choose another checkpoint, and look at who changed this one.",
  });
}
