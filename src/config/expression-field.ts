import { z } from "zod";
import { expressionProblem, templateProblem } from "../workflow/expression.js";
import { describe } from "./plain-english.js";

/** `true` and `3` are expressions too, though YAML has read them already. */
export const Expression = z
  .union([z.string(), z.number(), z.boolean()], {
    error: ({ input }) => `expected an expression such as state.count > 3, found ${describe(input)}.`,
  })
  .transform(String)
  .superRefine((text, context) => {
    const problem = expressionProblem(text);
    if (problem !== null)
      context.addIssue({ code: "custom", message: `the expression can't be read: ${problem}.` });
  });

/** A text for people, with expressions in `{{ }}`. */
export const Template = z
  .string()
  .min(1)
  .max(10_000)
  .superRefine((text, context) => {
    const problem = templateProblem(text);
    if (problem !== null)
      context.addIssue({ code: "custom", message: `the text can't be filled in: ${problem}.` });
  });

export const DataName = z
  .string()
  .max(60)
  .regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, "a name in the data has letters, digits, - and _.");

/** By name in the data, what it becomes. */
export const Updates = z.record(DataName, Expression);
