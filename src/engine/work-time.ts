import type { Plan } from "./plan.js";

/** No lease is longer: whoever dies so that nobody can tell blocks the run until it ends. */
const mostMs = 24 * 3_600_000;
/** The number of tasks to reckon with where only the run itself can tell. */
const unknownTasks = 10;

/**
 * How long a phase, or so many tasks of it, may take: its agents one after the other, and all gates, which may have to
 * be computed again.
 */
export function workMsOf(plan: Plan, name: string, times?: number): number {
  const phase = plan.workflow.phases[name];
  const { agents = {} } = plan.phases[name] ?? {};
  if (!phase || phase.type === "terminal") return 0;
  const turns =
    times ??
    (phase.type !== "agent" ? 1 : (phase.until?.most ?? (phase.forEach === undefined ? 1 : unknownTasks)));
  const agentMs = Object.values(agents).reduce((sum, agent) => sum + (agent?.timeoutMs ?? 0), 0) * turns;
  const gates = Object.values(plan.phases).flatMap((each) => each.gates);
  const gatesMs = gates.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);
  const hooks = [...(phase.before ?? []), ...(phase.after ?? []), ...(phase.finally ?? [])];
  const hooksMs = hooks.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);
  return Math.min(agentMs + gatesMs + hooksMs, mostMs);
}

/** Whether commands run once a person has answered. */
export function hasAfter({ workflow }: Plan, name: string): boolean {
  const phase = workflow.phases[name];
  return phase?.type === "human" && (phase.after ?? []).length > 0;
}
