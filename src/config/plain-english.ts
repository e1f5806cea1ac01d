import { z } from "zod";
import { didYouMean } from "./did-you-mean.js";

const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** What zod found, in the words of the person who wrote the file. Schemas may give a better message. */
export const plainEnglish: z.core.$ZodErrorMap = (issue) => {
  const found = describe(issue.input);
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined)
        return `expected ${kinds[issue.expected] ?? issue.expected}, but it is missing.`;
      return `expected ${kinds[issue.expected] ?? issue.expected}, found ${found}.`;
    case "invalid_value":
      return `expected ${oneOf(issue.values)}, found ${found}.${suggest(issue.input, issue.values.map(String))}`;
    case "invalid_union":
      return unionMessage(issue);
    case "too_small":
      return issue.origin === "array"
        ? "expected a list with at least one item, found an empty list."
        : issue.origin === "string"
          ? "expected some text, found an empty text."
          : `expected ${issue.minimum} or more, found ${found}.`;
    case "too_big":
      return issue.origin === "string"
        ? `expected at most ${issue.maximum} characters, found ${String(issue.input).length}.`
        : `expected ${issue.maximum} or less, found ${found}.`;
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(key, knownKeys(issue.inst))).join("\n");
    case "invalid_key":
      return `this name is not allowed: ${issue.issues[0]?.message ?? ""}`;
    default:
      return undefined;
  }
};

export function unknownKey(key: string, known: readonly string[]): string {
  const help = didYouMean(key, known) || ` Known keys: ${known.join(", ")}.`;
  return `the key ${JSON.stringify(shorten(key))} is not known here.${help}`;
}

function knownKeys(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function unionMessage(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  const options: readonly unknown[] = "options" in issue && Array.isArray(issue.options) ? issue.options : [];
  const names = options.map(String);
  const input: unknown = issue.input;
  const field = "discriminator" in issue ? String(issue.discriminator) : "";
  const value =
    typeof input === "object" && input !== null && Object.hasOwn(input, field)
      ? (input as Record<string, unknown>)[field]
      : undefined;
  if (value === undefined) return `expected ${oneOf(names)}, but it is missing.`;
  return `expected ${oneOf(names)}, found ${describe(value)}.${suggest(value, names)}`;
}

function suggest(input: unknown, known: readonly string[]): string {
  return typeof input === "string" ? didYouMean(input, known) : "";
}

function oneOf(values: readonly unknown[]): string {
  const quoted = values.map((value) => (typeof value === "string" ? JSON.stringify(value) : String(value)));
  if (quoted.length <= 1) return quoted.join("");
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

export function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "string") return `the text ${JSON.stringify(shorten(value))}`;
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "object") return "a map";
  return String(value);
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
