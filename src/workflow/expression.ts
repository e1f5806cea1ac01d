import { createContext, Script } from "node:vm";
import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import { CrunchError } from "../errors.js";
import { reasonOf, variableNames } from "./expression-reasons.js";
import { fromCel, toCel } from "./expression-values.js";

const maxLength = 2_000;
/** An expression takes microseconds; a hostile pattern or lists within lists could take for ever. */
const maxMs = 500;

/**
 * Conditions and values of a workflow are CEL, which has no effects. `state` is the workflow's data, `output` what the
 * phase came to, and `phases` the status of each.
 */
type Variables = Readonly<Record<string, unknown>>;

const environment = makeEnvironment();

function makeEnvironment(): Environment {
  const made = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: {
      maxAstNodes: 1_000,
      maxDepth: 50,
      maxListElements: 200,
      maxMapEntries: 200,
      maxCallArguments: 10,
    },
  });
  for (const name of ["state", "issue", "phases"]) made.registerVariable(name, "map");
  made.registerVariable("output", "dyn");
  // JSON has one kind of number: 1 and 0.5 are of the same kind to whoever writes them.
  const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": (a, b) => a / b,
  };
  for (const [operator, compute] of Object.entries(arithmetic)) {
    const both = (a: number | bigint, b: number | bigint) => compute(Number(a), Number(b));
    made.registerOperator(`int ${operator} double`, both);
    made.registerOperator(`double ${operator} int`, both);
  }
  return made;
}

/** What computes the expression, for different variables. */
export function compileExpression(text: string): (variables: Variables) => unknown {
  const compiled = parse(text);
  if (typeof compiled === "string") {
    throw new CrunchError({
      code: "expression_invalid",
      message: `The expression ${quoted(text)} can't be read: ${compiled}.`,
      hint: "Put the expression right in the workflow.",
    });
  }
  return (variables) => {
    try {
      const given = variableNames.filter((name) => variables[name] !== undefined);
      const values = Object.fromEntries(given.map((name) => [name, toCel(variables[name])]));
      return fromCel(withinTime(() => compiled(values)));
    } catch (error) {
      throw new CrunchError({
        code: "expression_failed",
        message: `The expression ${quoted(text)} can't be computed: ${reasonOf(error, { text, maxMs })}.`,
        hint: "Put the expression right in the workflow; `has(state.x)` tells whether something is there.",
        cause: error,
      });
    }
  };
}

/** What is wrong with an expression, or null. */
export function expressionProblem(text: string): string | null {
  const compiled = parse(text);
  return typeof compiled === "string" ? compiled : null;
}

function parse(text: string): ParseResult | string {
  if (text.length > maxLength) return `it has ${text.length} characters, more than the limit of ${maxLength}`;
  if (text.trim() === "") return "it is empty";
  try {
    const parsed = environment.parse(text);
    const { valid, error } = parsed.check();
    return valid || !error ? parsed : reasonOf(error, { text, maxMs });
  } catch (error) {
    return reasonOf(error, { text, maxMs });
  }
}

const call: { compute: () => unknown } = { compute: () => null };
const machine = createContext(call);
const script = new Script("compute()");

/** Only the virtual machine can end what runs in it; what it runs here is always the same one call. */
function withinTime(compute: () => unknown): unknown {
  call.compute = compute;
  try {
    return script.runInContext(machine, { timeout: maxMs });
  } finally {
    call.compute = () => null;
  }
}

function quoted(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return `\`${line.length > 200 ? `${line.slice(0, 200)}…` : line}\``;
}

/** An expression ends at the first `}}`. */
const hole = /\{\{([\s\S]*?)\}\}/g;

/** A text with the values of what is written in `{{ }}`: text as it is, anything else as JSON. */
export function fillTemplate(text: string, variables: Variables): string {
  return text.replaceAll(hole, (_, expression: string) => {
    const value = compileExpression(expression)(variables);
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

/** What is wrong with a template, or null. */
export function templateProblem(text: string): string | null {
  for (const [, expression = ""] of text.matchAll(hole)) {
    const problem = expressionProblem(expression);
    if (problem !== null) return `in \`{{${expression}}}\`: ${problem}`;
  }
  return text.replaceAll(hole, "").includes("{{") ? "a `{{` without its `}}`" : null;
}
