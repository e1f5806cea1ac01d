import type { PhaseState } from "../checkpoint/schema.js";
import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import { firstFailed, readiness } from "../workflow/readiness.js";
import type { RunRecord } from "../workflow/replay.js";

export type Beginning = { readonly name: string } & (
  | { readonly kind: "end" }
  | { readonly kind: "skip"; readonly reason: string }
  | { readonly kind: "too_often"; readonly times: number }
  | { readonly kind: "start"; readonly attempt: number; readonly version: number }
);

/** What begins now: what a dead session left running, and, unless something has failed, what is ready. */
export function beginnings<S extends StateOf>(
  workflow: WorkflowDefinition<S>,
  { phases }: RunRecord,
  isActive: (name: string) => boolean,
  now: Date,
): readonly Beginning[] {
  // A workflow may have lost a phase since the run began.
  const names = Object.keys(phases).filter((name) => Object.hasOwn(workflow.phases, name));
  const left = names.filter((name) => phases[name]?.status === "running" && !isActive(name));
  const { graph } = workflow;
  const ready = firstFailed(graph, phases) === null ? readiness(graph, phases, now).ready : [];
  return [...left, ...ready].map((name) => {
    const phase = workflow.phases[name];
    if (phase?.type === "terminal") return { name, kind: "end" };
    if (phase?.skip !== undefined) return { name, kind: "skip", reason: phase.skip };
    const { attempt = 0, version = 0, retries, visits = version } = phases[name] ?? {};
    // A session died in it or was stopped. Nor is another try of a phase that failed a new version of it.
    if (attempt > 0) return { name, kind: "start", attempt: attempt + 1, version };
    if (retries !== undefined) return { name, kind: "start", attempt: 1, version };
    if (visits >= workflow.maxVisits) return { name, kind: "too_often", times: visits };
    return { name, kind: "start", attempt: 1, version: version + 1 };
  });
}

/** The ends of the graph, and phases that are left out. */
export const isInstant = ({ kind }: Beginning) => kind === "end" || kind === "skip";

/** How many sessions died in a phase that nobody works on any more. Those that were stopped on purpose did not. */
export function deathsIn({ status, attempt, stops = 0 }: PhaseState): number {
  return status === "running" ? attempt - stops : 0;
}
