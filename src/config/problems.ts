import type { z } from "zod";
import { type ParsedYaml, parseYaml } from "../yaml/parse-yaml.js";
import { YamlError } from "../yaml/yaml-error.js";
import { plainEnglish } from "./plain-english.js";

/** One thing that is wrong in a configuration file, for the person who wrote it. */
export interface ConfigProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `phases.enrich.gates[0].path`, or empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

export type Parsed<Config> =
  | { readonly status: "ok"; readonly config: Config }
  | { readonly status: "invalid"; readonly problems: readonly ConfigProblem[] };

export interface Finding {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const limits = { maxBytes: 256 * 1024, maxDepth: 20 };

/** Reads a configuration file by its schema, then by `check` for what spans several of its entries. */
export function parseConfigFile<Schema extends z.ZodType>(options: {
  readonly text: string;
  readonly file: string;
  readonly schema: Schema;
  readonly check?: (config: z.output<Schema>) => readonly Finding[];
}): Parsed<z.output<Schema>> {
  const { text, file, schema, check } = options;
  let yaml: ParsedYaml;
  try {
    yaml = parseYaml(text, limits);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line, column, detail } = error;
    return { status: "invalid", problems: [{ file, line, column, path: "", message: `${detail}.` }] };
  }
  const result = schema.safeParse(yaml.value ?? {}, { error: plainEnglish });
  const findings = result.success ? (check?.(result.data) ?? []) : result.error.issues.flatMap(findingsOf);
  if (result.success && findings.length === 0) return { status: "ok", config: result.data };
  return {
    status: "invalid",
    problems: findings.map(({ path, message }) => ({
      file,
      ...yaml.locate(path),
      path: pathText(path),
      message,
    })),
  };
}

function findingsOf(issue: z.core.$ZodIssue): Finding[] {
  if (issue.code === "invalid_union") return findingsOfUnion(issue);
  if (issue.code !== "unrecognized_keys") return [issue];
  // plainEnglish() writes one line for each unknown key.
  const messages = issue.message.split("\n");
  return issue.keys.map((key, index) => ({ path: [...issue.path, key], message: messages[index] ?? "" }));
}

/** Where a value has the kind of just one of the forms, what is wrong with it is what that form says. */
function findingsOfUnion(issue: z.core.$ZodIssueInvalidUnion): Finding[] {
  const isOfOtherKind = ({ path, code }: z.core.$ZodIssue) =>
    path.length === 0 && (code === "invalid_type" || code === "invalid_value");
  const [meant, ...others] = issue.errors.filter((issues) => !issues.some(isOfOtherKind));
  if (!meant || others.length > 0) return [issue];
  return meant.flatMap(findingsOf).map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`,
    )
    .join("");
}
