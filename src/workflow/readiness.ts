import type { PhaseState } from "../checkpoint/schema.js";
import { orderOf, type PhaseGraph } from "./graph.js";

export interface Readiness {
  /** The phases that can begin now. */
  readonly ready: readonly string[];
  /** The phases that wait for the time of their next try. */
  readonly sleeping: readonly { readonly phase: string; readonly until: string }[];
}

/**
 * Which phases can begin. A phase waits until every phase that leads forward to it has ended, or can't be reached any
 * more; and at least one of them must have led here.
 */
export function readiness(
  graph: PhaseGraph,
  phases: Readonly<Record<string, PhaseState>>,
  now: Date,
): Readiness {
  const { names, before, jumping } = orderOf(graph);
  const arrived = new Set<string>();
  /** Phases that nothing will lead to any more. */
  const passedBy = new Set<string>();
  /** A phase that may lead anywhere, and has not chosen yet. */
  const mayJump = jumping.some((name) => {
    const { status, due } = phases[name] ?? {};
    return status === "running" || status === "waiting" || due === true;
  });
  const ready: string[] = [];
  const sleeping: { phase: string; until: string }[] = [];
  for (const name of names) {
    const state = phases[name];
    if (!state) continue;
    if (state.status === "succeeded" || state.status === "skipped") {
      for (const to of state.next ?? graph.nodes[name]?.to ?? []) arrived.add(to);
      continue;
    }
    if (state.status !== "pending") continue;
    // Nobody has to lead to the first one.
    if (state.due || name === graph.first) {
      if (state.retry_at !== undefined && Date.parse(state.retry_at) > now.getTime())
        sleeping.push({ phase: name, until: state.retry_at });
      else ready.push(name);
      continue;
    }
    const sources = before.get(name) ?? [];
    const isSettled = sources.every((source) => {
      const status = phases[source]?.status;
      return status === "succeeded" || status === "skipped" || passedBy.has(source);
    });
    if (!isSettled) continue;
    if (arrived.has(name)) ready.push(name);
    else if (sources.length > 0 || !mayJump) passedBy.add(name);
  }
  return { ready, sleeping };
}

/** Whether the run has come to an end of the graph. */
export function hasArrived(graph: PhaseGraph, phases: Readonly<Record<string, PhaseState>>): boolean {
  return Object.keys(graph.nodes).some(
    (name) => graph.nodes[name]?.kind === "terminal" && phases[name]?.status === "succeeded",
  );
}

/** The first phase of the graph that has failed; null when none has. */
export function firstFailed(graph: PhaseGraph, phases: Readonly<Record<string, PhaseState>>): string | null {
  return orderOf(graph).names.find((name) => phases[name]?.status === "failed") ?? null;
}

/** When the next try of a phase is due, in milliseconds; infinity when none is. */
export function nextTry(phases: Readonly<Record<string, PhaseState>>): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { status, retry_at } of Object.values(phases))
    if (status === "pending" && retry_at !== undefined) next = Math.min(next, Date.parse(retry_at));
  return next;
}
