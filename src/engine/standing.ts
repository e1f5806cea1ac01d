import type { PhaseState } from "../checkpoint/schema.js";
import { orderOf } from "../workflow/graph.js";
import { stateLabel } from "../workflow/labels.js";
import { readiness } from "../workflow/readiness.js";
import { type Phase, phaseNamed, phasesInOrder, type Workflow } from "../workflow/workflow.js";

export type Phases = Readonly<Record<string, PhaseState>>;

/**
 * Where a run stands. Everything GitHub shows of it follows from this. Of several phases at the same point, `phase` is
 * the first one in the workflow's order.
 */
export type Standing =
  | { readonly kind: "running"; readonly phase: string }
  /** The phase can begin at once. */
  | { readonly kind: "next"; readonly phase: string }
  | { readonly kind: "waiting_for_label"; readonly done: string; readonly phase: string }
  | {
      readonly kind: "waiting_for_person";
      readonly phase: string;
      /** The phase whose label approves; null where only a comment can answer. */
      readonly next: string | null;
    }
  /** It failed, and is tried again at that time. */
  | { readonly kind: "retrying"; readonly phase: string; readonly until: string }
  | { readonly kind: "failed"; readonly phase: string }
  | { readonly kind: "finished"; readonly phase: string };

export function standingOf(workflow: Workflow, phases: Phases, advance: "auto" | "manual"): Standing {
  const ordered = phasesInOrder(workflow);
  const first = (status: PhaseState["status"]) => ordered.find(({ name }) => phases[name]?.status === status);
  const running = first("running");
  if (running) return { kind: "running", phase: running.name };
  const failed = first("failed");
  if (failed) return { kind: "failed", phase: failed.name };
  const { ready, sleeping } = readiness(workflow.graph, complete(workflow, phases), new Date(0));
  const next = ordered.find(({ name, type }) => type !== "terminal" && ready.includes(name));
  if (next) {
    const done = advance === "manual" && !isPassed(next) ? doneBefore(workflow, phases, next.name) : null;
    if (done !== null) return { kind: "waiting_for_label", done, phase: next.name };
    return { kind: "next", phase: next.name };
  }
  const waiting = first("waiting");
  if (waiting) return { kind: "waiting_for_person", phase: waiting.name, next: approvingNext(waiting) };
  const [asleep] = [...sleeping].sort((a, b) => Date.parse(a.until) - Date.parse(b.until));
  if (asleep) return { kind: "retrying", ...asleep };
  return { kind: "finished", phase: endOf(workflow, phases) };
}

/** The phases that can begin now. */
export function readyPhases(workflow: Workflow, phases: Phases): readonly string[] {
  return readiness(workflow.graph, complete(workflow, phases), new Date(0)).ready;
}

/** Where a run of the workflow goes on, by where its phases stand. */
export function nextPhaseOf(workflow: Workflow): (phases: Phases) => string {
  return (phases) => standingOf(workflow, phases, "auto").phase;
}

/** Whether another phase may be at work at the same time. */
export function runsBeside({ graph }: Workflow, name: string): boolean {
  const order = orderOf(graph);
  const after = new Set(order.after(name));
  return order.names.some(
    (other) => other !== name && !after.has(other) && !order.after(other).includes(name),
  );
}

/** A skipped human phase needs no label of its own: it is passed on the way. */
const isPassed = (phase: Phase) => phase.type !== "terminal" && phase.skip !== undefined;

/** The terminal phase that the run has come to, or comes to now. */
function endOf(workflow: Workflow, phases: Phases): string {
  const ends = phasesInOrder(workflow).filter(({ type }) => type === "terminal");
  const { ready } = readiness(workflow.graph, complete(workflow, phases), new Date(0));
  const isEnd = ({ name }: Phase) => phases[name]?.status === "succeeded" || ready.includes(name);
  const end = ends.find(isEnd) ?? ends[0];
  if (!end) throw new Error(`workflow ${workflow.name} has no terminal phase`);
  return end.name;
}

/** An approval leads to the one phase that follows: then that one's label says yes. */
function approvingNext(phase: Phase): string | null {
  if (phase.type !== "human" || phase.ask.type !== "approval" || "choices" in phase.next) return null;
  const [next, ...others] = phase.next;
  return next === undefined || others.length > 0 ? null : next;
}

/**
 * The phase that was done before this one, whose label stays until the next is added. The label that approves a human
 * phase is the label of the next one: it is not asked for twice.
 */
function doneBefore(workflow: Workflow, phases: Phases, name: string): string | null {
  const { before } = orderOf(workflow.graph);
  for (const source of before.get(name) ?? []) {
    const status = phases[source]?.status;
    if (status === "succeeded") return phaseNamed(workflow, source).type === "human" ? null : source;
    const earlier = status === "skipped" ? doneBefore(workflow, phases, source) : null;
    if (earlier !== null) return earlier;
  }
  return null;
}

/** The one `state:` label that belongs on the issue. */
export function labelFor(standing: Standing): string {
  return stateLabel(standing.kind === "waiting_for_label" ? standing.done : standing.phase);
}

const fresh: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };

export function pendingPhases(workflow: Workflow): Phases {
  return Object.fromEntries(phasesInOrder(workflow).map((phase) => [phase.name, fresh]));
}

/** A workflow may have phases that a run begun before them does not know. */
function complete(workflow: Workflow, phases: Phases): Phases {
  return { ...pendingPhases(workflow), ...phases };
}

/**
 * The run goes on at `target`: what leads to it counts as done or skipped, it and what follows it are to be done. What
 * runs beside it stays as it is.
 */
export function phasesFrom(workflow: Workflow, phases: Phases, target: string): Phases {
  const order = orderOf(workflow.graph);
  const known = complete(workflow, phases);
  const ahead = new Set([target, ...order.after(target)]);
  const earlier = (name: string) => order.after(name).includes(target);
  const moved = order.names.map((name) => {
    const { failure, retries: _, retry_at: __, due: ___, next, ...state } = known[name] ?? fresh;
    if (ahead.has(name)) {
      const why = failure && name === target && { failure };
      return [name, { ...state, ...why, status: "pending", attempt: 0, stops: 0, visits: 0 }] as const;
    }
    if (!earlier(name))
      return [name, isOpen(known[name]) ? again(known[name]) : (known[name] ?? fresh)] as const;
    if (state.status === "succeeded") return [name, { ...state, ...onTheWay(name) }] as const;
    return [name, { ...state, status: "skipped", ...onTheWay(name) }] as const;
  });
  return Object.fromEntries(moved);

  /** Where a phase that chooses led to must be on the way to the target. */
  function onTheWay(name: string): Pick<PhaseState, "next"> {
    const node = workflow.graph.nodes[name];
    if (node?.kind !== "choice") return {};
    return { next: node.to.filter((to) => to === target || (earlier(to) && !order.isBack(name, to))) };
  }
}

/** What was at work, failed or was asked beside the target is to be done again. */
const isOpen = (state: PhaseState | undefined) =>
  state !== undefined && ["running", "failed", "waiting"].includes(state.status);

function again(state: PhaseState | undefined): PhaseState {
  return { ...fresh, version: state?.version ?? 0, checkpoint_id: state?.checkpoint_id ?? null };
}

export function withPhase(phases: Phases, name: string, change: Partial<PhaseState>): Phases {
  const before = phases[name];
  if (!before) throw new Error(`the run has no phase ${name}`);
  return { ...phases, [name]: { ...before, ...change } };
}
