import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Checkpoint } from "../../src/checkpoint/schema.js";
import { commands } from "../../src/commands/index.js";
import { OperatorConfig, parseOperatorConfig } from "../../src/config/operator.js";
import { parseRepoConfig, parseWorkflowFile } from "../../src/config/parse-config.js";
import { RepoConfig, WorkflowConfig } from "../../src/config/schema.js";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const pages = [
  "README.md",
  ...readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `docs/${path}`),
];

interface Block {
  readonly where: string;
  readonly text: string;
}

/** Every YAML example by what its first line says it is; one that says nothing is a `.github/crunch.yml`. */
const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = ""], index): Block => {
    return { where: `${page}, YAML ${index + 1}`, text };
  }),
);
const isWorkflow = ({ text }: Block) => /^# .*\.github\/workflows\//.test(text);
const isOperatorFile = ({ text }: Block) => text.startsWith("# operator.yml");
const isForBot = ({ text }: Block) => text.startsWith("# .github/crunch.yml, with a bot");
const isWorkflowFile = ({ text }: Block) => /^# yaml-language-server: .*workflow\.schema\.json$/m.test(text);
const repoConfigs = blocks.filter(
  (block) => !isWorkflow(block) && !isOperatorFile(block) && !isWorkflowFile(block),
);

describe("the examples in the documents", () => {
  it.each(repoConfigs)("$where is a valid .github/crunch.yml", (block) => {
    expect(parseRepoConfig(block.text, block.where, { agentsElsewhere: isForBot(block) })).toMatchObject({
      status: "ok",
    });
  });

  it.each(blocks.filter(isOperatorFile))("$where is a valid operator's file", ({ text, where }) => {
    expect(parseOperatorConfig(text, where)).toMatchObject({ status: "ok" });
  });

  it.each(blocks.filter(isWorkflowFile))("$where is a valid workflow", ({ text, where }) => {
    expect(parseWorkflowFile(text, where)).toMatchObject({ status: "ok" });
  });

  it("are the workflow of examples/ where one is to be copied", () => {
    expect(blocks.filter(({ text }) => text === read("examples/crunch.yml"))).toHaveLength(1);
  });

  it("say what is wrong in a configuration as it is said", () => {
    const text = "advanse: auto\nagent: builder\nagents:\n  builder: { command: npm test }\n";
    const parsed = parseRepoConfig(text);
    const problems = parsed.status === "ok" ? [] : parsed.problems;
    const said = problems.map(
      ({ file, line, column, path, message }) => `${file}:${line}:${column}: ${path}: ${message}`,
    );
    expect(said).toHaveLength(2);
    for (const line of said) expect(read("docs/configuration.md")).toContain(line);
  });

  it("say what is wrong in a workflow as it is said", () => {
    const inFields = `phases:
  plan: { next: build }
  build:
    guard: state.x >
    on_error: retry
    next: done
  done: { type: terminal }
`;
    const inPhases = "phases:\n  plan: { next: done, quorum: 1 }\n  done: { type: terminal }\n";
    const between = "phases:\n  build: { type: terminal }\n  plan:\n    next: biuld\nfirst: plan\n";
    const said = [inFields, inPhases, between].flatMap((text) => {
      const parsed = parseWorkflowFile(text, ".github/flow.yml");
      return parsed.status === "ok" ? [] : parsed.problems;
    });
    expect(said).toHaveLength(4);
    for (const { file, line, column, path, message } of said)
      expect(read("docs/workflows-yaml.md")).toContain(`${file}:${line}:${column}: ${path}: ${message}\n`);
  });

  it("link to files that exist", () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].flatMap(([, target = ""]) => {
        const url = new URL(target, new URL(page, root));
        return exists(url) ? [] : [`${page}: ${target}`];
      }),
    );
    expect(broken).toEqual([]);
  });
});

describe("the documents", () => {
  it("list every slash command with what it does", () => {
    for (const { usage, help, permission } of Object.values(commands)) {
      const row = `| \`${usage.replaceAll("|", "\\|")}\` | ${permission} access | ${help} |`;
      expect(read("README.md")).toContain(row);
    }
  });

  it("list every key of .github/crunch.yml and of the operator's file", () => {
    const page = read("docs/configuration.md");
    const keys = keysOf(RepoConfig).filter((key) => !key.startsWith("workflow."));
    expect(keys).toContain("phases.<phase>.gates[].command");
    expect(keys).toContain("agents.<name>.pass_env");
    const documented = keysIn(page);
    expect([...new Set(keys)].filter((key) => !documented.includes(key))).toEqual([]);
    const operatorKeys = Object.keys(OperatorConfig.shape);
    expect(operatorKeys.filter((key) => !read("docs/bot.md").includes(`| \`${key}\` |`))).toEqual([]);
  });

  it("list every key of a workflow, and no others", () => {
    const keys = keysOf(WorkflowConfig)
      .map((key) => key.replace(/^phases\.<phase>\./, ""))
      .filter((key) => !key.startsWith("gates[]"));
    const [, tables = ""] = read("docs/workflows-yaml.md").split("\n## The workflow\n");
    const documented = keysIn(tables.split("\n## Expressions\n")[0] ?? "");
    expect([...documented].sort()).toEqual([...new Set(keys)].sort());
  });

  it("list every environment variable of the bot", () => {
    const settings =
      /const Settings = z\.object\(\{([\s\S]*?)\n\}\);/.exec(read("src/entry/bot-main.ts"))?.[1] ?? "";
    const names = [...settings.matchAll(/^\s+([A-Z_]+):/gm)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !read("docs/bot.md").includes(`| \`${name}\` |`))).toEqual([]);
  });

  it("list every field of a checkpoint", () => {
    const fields = [...read("docs/checkpoints.md").matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = ""]) =>
      cell.split(", ").map((name) => name.replaceAll("`", "").trim()),
    );
    expect(Object.keys(Checkpoint.shape).filter((key) => !fields.includes(key))).toEqual([]);
  });
});

/** The first column of every table. */
function keysIn(page: string): string[] {
  return [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, key = ""]) => key);
}

const placeholders: Readonly<Record<string, string>> = {
  agents: "<name>",
  phases: "<phase>",
  tasks: "<task>",
  voters: "<voter>",
};

/** Every key a schema takes: `agents.<name>.command`, `phases.<phase>.gates[].type`. */
function keysOf(schema: z.core.$ZodType, path = ""): string[] {
  const inner = (type: z.core.$ZodType) => keysOf(type, path);
  if (schema instanceof z.ZodObject) {
    const entries: [string, z.core.$ZodType][] = Object.entries(schema.shape);
    return entries.flatMap(([key, value]) => {
      const name = path === "" ? key : `${path}.${key}`;
      return [name, ...keysOf(value, name)];
    });
  }
  if (schema instanceof z.ZodPipe) return inner(schema.in);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return inner(schema.unwrap());
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly) return inner(schema.unwrap());
  if (schema instanceof z.ZodOptional) return inner(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(inner);
  if (schema instanceof z.ZodArray) return keysOf(schema.element, `${path}[]`);
  const placeholder = placeholders[path.replace(/^.*\./, "")];
  if (schema instanceof z.ZodRecord && placeholder) return keysOf(schema.valueType, `${path}.${placeholder}`);
  return [];
}

function exists(url: URL): boolean {
  try {
    readdirSync(url);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTDIR";
  }
}
