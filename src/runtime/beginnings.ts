import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import { firstFailed, readiness } from "../workflow/readiness.js";
import type { RunRecord } from "../workflow/replay.js";

export type Beginning = { readonly name: string } & (
  | { readonly kind: "end" }
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
  const names = Object.keys(phases);
  const left = names.filter((name) => phases[name]?.status === "running" && !isActive(name));
  const { graph } = workflow;
  const ready = firstFailed(graph, phases) === null ? readiness(graph, phases, now).ready : [];
  return [...left, ...ready].map((name) => {
    if (workflow.phases[name]?.type === "terminal") return { name, kind: "end" };
    const { status, attempt = 0, version = 0, retries = 0 } = phases[name] ?? {};
    if (status === "running") return { name, kind: "start", attempt: attempt + 1, version };
    // Another try of a phase that failed is no new version of it.
    if (retries > 0) return { name, kind: "start", attempt: 1, version };
    if (version >= workflow.maxVisits) return { name, kind: "too_often", times: version };
    return { name, kind: "start", attempt: 1, version: version + 1 };
  });
}
