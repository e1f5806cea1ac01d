import { CrunchError } from "../errors.js";
import { compileExpression } from "../workflow/expression.js";
import type { PhaseShape } from "../workflow/shape.js";

export function isTrue(value: unknown, expression: string): boolean {
  if (typeof value === "boolean") return value;
  throw wrongType(expression, "true or false", value);
}

const mostTasks = 1_000;

export function listOf(expression: string, variables: Readonly<Record<string, unknown>>): readonly unknown[] {
  const value = compileExpression(expression)(variables);
  if (!Array.isArray(value)) throw wrongType(expression, "a list", value);
  if (value.length <= mostTasks) return value;
  throw new CrunchError({
    code: "expression_failed",
    message: `\`${expression}\` gives ${value.length} items, and ${mostTasks} tasks are the most.`,
    hint: "Give each task more to do, then comment `/crunch`.",
  });
}

function wrongType(expression: string, wanted: string, value: unknown): CrunchError {
  return new CrunchError({
    code: "expression_failed",
    message: `\`${expression}\` has to give ${wanted}, and gave ${JSON.stringify(value)?.slice(0, 100) ?? "nothing"}.`,
    hint: "Correct the workflow on the default branch, then comment `/crunch`.",
  });
}

export function rejected(name: string): CrunchError {
  return new CrunchError({
    code: "rejected",
    message: `\`${name}\` was rejected.`,
    hint: `Change what was asked about, then comment \`/crunch\` to ask again, or add the label of the phase to go back to.`,
  });
}

export function noChoice(name: string): CrunchError {
  return new CrunchError({
    code: "unknown_target",
    message: `None of the conditions in \`next\` of \`${name}\` holds.`,
    hint: "Add a last entry without `if`, then comment `/crunch`.",
  });
}

/** Without what is undefined: an optional part is there or it is not. */
export function defined<T extends object>(parts: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as never;
}

/** Whether each of several tasks works in a folder of its own. */
export function hasManyTasks(shape: PhaseShape): boolean {
  return shape.type === "tasks" || (shape.type === "agent" && (shape.forEach !== undefined || !!shape.until));
}

export function hasHooks({
  before = [],
  after = [],
  finally: last = [],
}: Exclude<PhaseShape, { type: "terminal" }>) {
  return before.length + after.length + last.length > 0;
}
