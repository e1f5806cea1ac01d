import { z } from "zod";
import { RepoConfig, WorkflowConfig } from "./schema.js";

/** The pages that describe every key. Their words are those of the schemas too. */
interface Pages {
  /** docs/configuration.md */
  readonly configuration: string;
  /** docs/workflows-yaml.md, where the keys of a phase stand without the phase. */
  readonly workflows: string;
}

type Json = Record<string, unknown>;

/** What editors know of `.github/crunch.yml` and of a workflow's file, by the name of the schema's file. */
export function jsonSchemas(pages: Pages): Readonly<Record<string, object>> {
  const configuration = meanings(pages.configuration);
  const workflows = meanings(pages.workflows);
  const ofWorkflow = (key: string) =>
    workflows.get(key.replace(/^phases\.<phase>\./, "")) ?? configuration.get(key);
  const ofRepo = (key: string) =>
    key.startsWith("workflow.") ? ofWorkflow(key.slice("workflow.".length)) : configuration.get(key);
  return {
    "crunch.schema.json": schemaOf(RepoConfig, "Crunch: .github/crunch.yml", ofRepo),
    "workflow.schema.json": schemaOf(WorkflowConfig, "Crunch: a workflow", ofWorkflow),
  };
}

function schemaOf(schema: z.ZodType, title: string, meaningOf: (key: string) => string | undefined): object {
  const { $schema, ...made } = z.toJSONSchema(schema, { io: "input", target: "draft-7" });
  describeKeys(made, "", meaningOf);
  return { $schema, title, ...made };
}

/** The last column of every row whose first one is a key. */
function meanings(page: string): Map<string, string> {
  const rows = page.matchAll(/^\| `([^`]+)` \|.*\| ((?:\\\||[^|])+) \|$/gm);
  return new Map([...rows].map(([, key = "", meaning = ""]) => [key, plain(meaning)]));
}

function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("\\|", "|");
}

const placeholders: Readonly<Record<string, string>> = {
  phases: "<phase>",
  tasks: "<task>",
  voters: "<voter>",
};

function describeKeys(node: unknown, path: string, meaningOf: (key: string) => string | undefined): void {
  if (!isMap(node)) return;
  const below = (child: unknown, at: string) => describeKeys(child, at, meaningOf);
  for (const form of [node.anyOf, node.oneOf].flat()) below(form, path);
  below(node.items, `${path}[]`);
  below(node.additionalProperties, `${path}.${placeholders[path.replace(/^.*\./, "")] ?? "<name>"}`);
  if (!isMap(node.properties)) return;
  for (const [name, property] of Object.entries(node.properties)) {
    const key = path === "" ? name : `${path}.${name}`;
    const description = meaningOf(key);
    if (isMap(property) && description !== undefined) property.description = description;
    below(property, key);
  }
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
