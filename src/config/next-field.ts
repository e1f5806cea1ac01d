import { z } from "zod";
import type { NextShape } from "../workflow/shape.js";
import { Expression } from "./expression-field.js";
import { describe } from "./plain-english.js";

/** The name of a phase, a task or a voter; whether there is such a one is seen once all are known. */
export const Reference = z.string().min(1).max(100);

/** One way that leads from a phase, and where it is written. */
export interface Lead {
  readonly to: string;
  readonly path: readonly PropertyKey[];
}

const Targets = z.union([Reference, z.array(Reference).min(1)], {
  error: ({ input }) => `expected the name of a phase, or a list of names, found ${describe(input)}.`,
});

const Choice = z.strictObject({ if: Expression.optional(), to: Targets });
type Choice = z.infer<typeof Choice>;

const Step = z.union([Reference, Choice], {
  error: ({ input }) =>
    `expected the name of a phase, or a map with \`if\` and \`to\`, found ${describe(input)}.`,
});

/** Where a phase leads: a name; a list of names; or a list of choices, of which the first that holds counts. */
export const Next = z
  .union([Reference, z.array(Step).min(1)], {
    error: ({ input }) =>
      `expected the name of a phase, a list of names or a list of choices, found ${describe(input)}.`,
  })
  .transform((next, context): { readonly shape: NextShape; readonly leads: readonly Lead[] } => {
    if (typeof next === "string") return plain([{ to: next, path: [] }]);
    const names = next.filter((step) => typeof step === "string");
    if (names.length === next.length) return plain(names.map((to, index) => ({ to, path: [index] })));
    const choices = next.filter((step) => typeof step === "object");
    const problem = problemOf(next, choices);
    if (problem) {
      context.addIssue({ code: "custom", ...problem });
      return z.NEVER;
    }
    const leads = choices.map(leadsOf);
    const shape = choices.map(({ if: condition = null }, index) => ({
      if: condition,
      to: targets(leads[index] ?? []),
    }));
    return shape.length === 1 ? plain(leads.flat()) : { shape: { choices: shape }, leads: leads.flat() };
  });

function problemOf(next: readonly unknown[], choices: readonly Choice[]) {
  if (choices.length < next.length)
    return { path: [], message: "expected either names or choices in one list, not both." };
  const last = choices.length - 1;
  const early = choices.findIndex((choice, index) => choice.if === undefined && index < last);
  if (early !== -1)
    return { path: [early], message: "expected an `if`: only the last of the choices may have none." };
  return choices[last]?.if === undefined
    ? null
    : {
        path: [last],
        message: "expected a last choice without `if`, for when no condition holds: { to: … }.",
      };
}

function leadsOf({ to }: Choice, index: number): Lead[] {
  const path = [index, "to"];
  return typeof to === "string" ? [{ to, path }] : to.map((each, at) => ({ to: each, path: [...path, at] }));
}

function plain(leads: readonly Lead[]) {
  return { shape: targets(leads), leads };
}

const targets = (leads: readonly Lead[]) => [...new Set(leads.map(({ to }) => to))];
