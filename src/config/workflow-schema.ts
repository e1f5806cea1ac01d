import { z } from "zod";
import { phaseName } from "../workflow/define-workflow.js";
import { graphProblems } from "../workflow/graph.js";
import type { WorkflowShape } from "../workflow/shape.js";
import { graphOfShape } from "../workflow/shape-graph.js";
import { type Lead, Reference } from "./next-field.js";
import { unknownName } from "./phase-problems.js";
import { repeatedGates } from "./repeated-gates.js";
import { workflowPhase } from "./workflow-phase.js";

export const PhaseName = z
  .string()
  .max(phaseName.maxLength)
  .regex(
    phaseName.pattern,
    "a phase has lower-case letters, digits, - and _, begins with a letter and ends with no dash.",
  );

const WorkflowName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, "a name has lower-case letters, digits, - and _, at most 40 in all.");

const Data = z
  .record(z.string(), z.unknown())
  .refine(isJson, "expected what JSON can say: .nan and .inf are not.");

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isJson);
}

/** Each phase is a label and a row in what people read. */
const maxPhases = 200;

/** A workflow in YAML: its shape, and what the repo sets for the phases in which agents work. */
export function workflowConfig<Gate extends z.ZodType<{ readonly name: string }>>(gate: Gate) {
  return z
    .strictObject({
      name: WorkflowName.default("custom"),
      first: Reference.optional(),
      data: Data.default({}),
      max_visits: z.number().int().min(1).max(10_000).default(100),
      snapshot_every: z.number().int().min(1).max(1_000_000).default(1_000),
      phases: z.record(PhaseName, workflowPhase(gate)).meta({ minProperties: 1, maxProperties: maxPhases }),
    })
    .transform(({ name, data, max_visits, snapshot_every, phases, ...rest }, context) => {
      const entries = Object.entries(phases);
      const configs = entries.flatMap(([each, { config }]) => (config ? [[each, config] as const] : []));
      const shape: WorkflowShape = {
        name,
        first: rest.first ?? entries[0]?.[0] ?? "",
        phases: Object.fromEntries(entries.map(([each, phase]) => [each, phase.shape])),
        initial: data,
        maxVisits: max_visits,
        snapshotEvery: snapshot_every,
      };
      const leads = entries.flatMap(([each, phase]) =>
        phase.leads.map(({ to, path }) => ({ to, path: ["phases", each, ...path] })),
      );
      const gated = configs.map(([each, { gates }]) => ({ path: ["phases", each], gates }));
      for (const problem of [...problemsOf(shape, leads), ...repeatedGates(gated)])
        context.addIssue({ code: "custom", ...problem });
      return { shape, phases: Object.fromEntries(configs) };
    });
}

/** What is wrong between phases. The graph is looked at once every name in it is right. */
function problemsOf(shape: WorkflowShape, leads: readonly Lead[]) {
  const names = Object.keys(shape.phases);
  if (names.length === 0) return [{ path: ["phases"], message: "expected at least one phase." }];
  if (names.length > maxPhases)
    return [{ path: ["phases"], message: `expected at most ${maxPhases} phases, found ${names.length}.` }];
  const unknown = [{ to: shape.first, path: ["first"] }, ...leads]
    .filter(({ to }) => !names.includes(to))
    .map(({ to, path }) => ({ path: [...path], message: unknownName("a phase", to, names) }));
  if (unknown.length > 0) return unknown;
  return graphProblems(graphOfShape(shape)).map(({ phase, message }) => ({
    path: phase === null ? ["phases"] : ["phases", phase],
    message: `${message}.`,
  }));
}
