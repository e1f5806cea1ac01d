/** Which phases of the orchestrator a type of project has, and which it has not. */
export const projectTypes = {
  analytics: { included: ["data", "develop", "docs"], excluded: ["security"] },
  ml: { included: ["data", "develop", "qa", "docs"], excluded: [] },
  webapp: { included: ["develop", "qa", "docs", "security"], excluded: ["data"] },
  optimization: { included: ["data", "develop", "qa", "docs"], excluded: [] },
} as const satisfies Record<string, ProjectRow>;

interface ProjectRow {
  readonly included: readonly string[];
  readonly excluded: readonly string[];
}

export type ProjectType = keyof typeof projectTypes;

const rows: Readonly<Record<ProjectType, ProjectRow>> = projectTypes;
const inSomeRow = new Set(
  Object.values(rows).flatMap(({ included, excluded }) => [...included, ...excluded]),
);

/** `on request`: only if `include` names it. */
export type PhaseUse = "runs" | "skipped" | "on request";

/**
 * What the table does not say: a phase of no row is part of every type; one that only other rows have is on request.
 * Without a type all phases run but `security`, which the graph itself calls optional.
 */
export function phaseUse(phase: string, type: ProjectType | null): PhaseUse {
  if (type === null) return phase === "security" ? "on request" : "runs";
  if (rows[type].included.includes(phase)) return "runs";
  if (rows[type].excluded.includes(phase)) return "skipped";
  return inSomeRow.has(phase) ? "on request" : "runs";
}

/** The types that have a phase, or may have it. */
export function typesWith(phase: string): readonly string[] {
  return Object.entries(rows).flatMap(([type, { excluded }]) => (excluded.includes(phase) ? [] : [type]));
}
