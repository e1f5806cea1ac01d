import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { jsonSchemas } from "../../src/config/json-schema.js";
import { parseRepoConfig, parseWorkflowFile } from "../../src/config/parse-config.js";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

const made = jsonSchemas({
  configuration: read("docs/configuration.md"),
  workflows: read("docs/workflows-yaml.md"),
});

const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true });
const isWorkflow = ajv.compile(made["workflow.schema.json"] ?? {});
const isConfig = ajv.compile(made["crunch.schema.json"] ?? {});

describe("schema/", () => {
  it("is what `npm run build:schema` writes", () => {
    expect(readdirSync(new URL("schema/", root)).sort()).toEqual(Object.keys(made).sort());
    for (const [file, schema] of Object.entries(made))
      expect(read(`schema/${file}`), file).toBe(`${JSON.stringify(schema, null, 2)}\n`);
  });

  it("says of every key what it means", () => {
    for (const [file, schema] of Object.entries(made))
      expect(keysWithoutWords(schema).map((key) => `${file}: ${key}`)).toEqual([]);
  });
});

const done = "done: { type: terminal }";
const flow = (phase: string) => `phases: { a: { ${phase} }, ${done} }`;

describe("the schema of a workflow", () => {
  it.each([
    read("examples/workflow.yml"),
    flow("next: done"),
    flow("type: human, ask: { prompt: Ok? }, next: [done]"),
    flow("on_error: pause, before: [[npm, ci]], until: { done: true, most: 3 }, next: [{ to: done }]"),
    flow("type: consensus, voters: [x], people: 1, next: done"),
    flow("ask: { prompt: x, timeout: 3d, on_timeout: { answer: approve } }, timeout: 90, next: done"),
  ])("takes what Crunch takes: %j", (text) => {
    expect(parseWorkflowFile(text, "flow.yml")).toMatchObject({ status: "ok" });
    expect(isWorkflow(parse(text)), JSON.stringify(isWorkflow.errors)).toBe(true);
  });

  it.each([
    "name: x",
    flow("does: nothing"),
    flow("nxt: done, next: done"),
    flow("quorum: 1, next: done"),
    flow("type: human, next: done"),
    flow("type: tasks, tasks: { x: { needs: [] } }, next: done"),
    flow("type: nobody, next: done"),
    flow("on_error: retry, next: done"),
    flow("on_error: { strategy: retry }, next: done"),
    flow("until: { done: true }, next: done"),
    flow("timeout: 3d, next: done"),
    flow("ask: { type: choice, prompt: x }, next: done"),
    flow("gates: [{ type: output }], next: done"),
    flow("next: [{ if: true }]"),
    `phases: { Plan: { next: done }, ${done} }`,
  ])("refuses what Crunch refuses: %j", (text) => {
    expect(parseWorkflowFile(text, "flow.yml")).toMatchObject({ status: "invalid" });
    expect(isWorkflow(parse(text))).toBe(false);
  });
});

describe("the schema of .github/crunch.yml", () => {
  it.each([
    "{}",
    read("examples/crunch-config.yml"),
    "workflow: orchestrator\nproject_type: ml\ninclude: [security]",
    `workflow: { ${flow("next: done")} }`,
    "agents: { a: { command: [x], env: { A: 1, B: true }, timeout: 10m } }",
    "phases: { docs: { gates: [{ type: command, name: tests, command: [npm, test] }] } }",
    "checkpoint: { checkpoint_triggers: { every_n_events: false } }",
  ])("takes what Crunch takes: %j", (text) => {
    expect(parseRepoConfig(text)).toMatchObject({ status: "ok" });
    expect(isConfig(parse(text)), JSON.stringify(isConfig.errors)).toBe(true);
  });

  it.each([
    "workflow: dev",
    "workflow: 3",
    `workflow: { ${flow("quorum: 1, next: done")} }`,
    "advnce: auto",
    "project_type: game",
    "agents: { a: { command: npm test } }",
    "agents: { a: { command: [x], env: { A: [] } } }",
    "phases: { docs: { timeout: 3d } }",
    "phases: { docs: { gates: [{ type: comand, name: a }] } }",
  ])("refuses what Crunch refuses: %j", (text) => {
    expect(parseRepoConfig(text)).toMatchObject({ status: "invalid" });
    expect(isConfig(parse(text))).toBe(false);
  });
});

function keysWithoutWords(node: unknown, path = ""): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const at = `${path}/${key}`;
    // Rules for editors name keys that are described elsewhere.
    if (key === "allOf" || key === "if" || key === "then") return [];
    if (key !== "properties") return keysWithoutWords(value, at);
    return Object.entries(value as Record<string, { readonly description?: string }>).flatMap(
      ([name, property]) => [
        ...(property.description ? [] : [`${at}/${name}`]),
        ...keysWithoutWords(property, `${at}/${name}`),
      ],
    );
  });
}
