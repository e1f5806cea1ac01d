import { describe, expect, it } from "vitest";
import { type Import, importsOf, readSource, type SourceFile, targetOf } from "./imports.js";

/**
 * What each part of `src` may import of ours besides itself: a folder, or one file of it.
 * `type x` allows only what is gone at run time, and `*` all but what follows it as `-x`.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  redact: [],
  markdown: [],
  "whole-characters": [],
  yaml: ["errors"],
  checkpoint: ["yaml", "errors"],
  config: ["yaml", "errors", "checkpoint", "workflow"],
  workflow: ["errors", "checkpoint"],
  runtime: ["workflow", "checkpoint", "ports", "errors"],
  ports: ["checkpoint"],
  migration: ["checkpoint", "yaml", "errors", "ports"],
  gates: ["ports", "markdown", "type config", "type workflow"],
  commands: ["ports", "checkpoint"],
  engine: [
    "runtime",
    "workflow",
    "gates",
    "commands",
    "checkpoint",
    "ports",
    "errors",
    "markdown",
    "whole-characters",
  ],
  render: [
    "markdown",
    "whole-characters",
    "engine",
    "checkpoint",
    "workflow",
    "commands",
    "ports",
    "config",
    "errors",
  ],
  adapters: [
    ...["ports", "checkpoint", "errors", "redact", "type engine/events", "commands", "yaml"],
    "whole-characters",
  ],
  app: ["*", "-entry", "-embedded-github", "-index"],
  entry: ["*"],
  "embedded-github": ["errors"],
  index: ["*"],
};

/** Packages that only some parts may import; a name ending in `*` is a beginning. */
const RESERVED: readonly { readonly packages: readonly string[]; readonly parts: readonly string[] }[] = [
  { packages: ["@actions/core", "@actions/github", "probot"], parts: ["entry"] },
  {
    packages: ["@octokit/*", "node:fs", "node:fs/*", "node:child_process", "node:http"],
    parts: ["adapters", "entry", "embedded-github"],
  },
];

const MAX_LINES = 250;
const files = readSource();

describe("the source", () => {
  it("imports only in the direction of the layers", () => {
    expect(files.flatMap((file) => file.imports.flatMap((used) => wrongDirection(file, used)))).toEqual([]);
  });

  it("imports the packages that touch the world only at the edge", () => {
    expect(files.flatMap((file) => file.imports.flatMap((used) => misplacedPackage(file, used)))).toEqual([]);
  });

  it("imports only files that exist", () => {
    const known = new Set(files.map(({ path }) => path));
    const missing = files.flatMap((file) =>
      file.imports.flatMap((used) => {
        const target = targetOf(file, used);
        return target === null || known.has(target)
          ? []
          : [`${file.path} imports ${used.specifier}, which is missing`];
      }),
    );
    expect(missing).toEqual([]);
  });

  it("has no import cycles, not even of types", () => {
    expect(cycles()).toEqual([]);
  });

  it(`has no file of more than ${MAX_LINES} lines`, () => {
    const long = files.filter(({ lines }) => lines > MAX_LINES);
    expect(long.map(({ path, lines }) => `${path} has ${lines} lines`)).toEqual([]);
  });
});

it("every way to import is read", () => {
  const text = [
    'import "./a.js";',
    'import { b } from "./b.js";',
    'import type { C } from "./c.js";',
    'import { type D1, type D2 } from "./d.js";',
    'import {\n  type E1,\n  e2,\n} from "./e.js";',
    'import * as f from "fs";',
    'export * from "./g.js";',
    'export type { H } from "./h.js";',
    '  const i = await import("./i.js");',
    'export const from = "./not-an-import.js";',
  ].join("\n");
  expect(importsOf(text).map(({ specifier, isType }) => `${specifier} ${isType ? "type" : "value"}`)).toEqual(
    [
      "./a.js value",
      "./b.js value",
      "./c.js type",
      "./d.js type",
      "./e.js value",
      "node:fs value",
      "./g.js value",
      "./h.js type",
      "./i.js value",
    ],
  );
});

function wrongDirection(file: SourceFile, used: Import): string[] {
  const target = targetOf(file, used);
  const from = partOf(file.path);
  if (target === null || partOf(target) === from) return [];
  const rules = ALLOWED[from];
  if (!rules) return [`${file.path}: "${from}" has no row in the table of layers`];
  const names = [partOf(target), target.replace(/\.ts$/, "")];
  const has = (prefix: string) => names.some((name) => rules.includes(prefix + name));
  const isAllowed = has("") || (used.isType && has("type ")) || (rules.includes("*") && !has("-"));
  const what = used.isType ? "the types of" : "";
  return isAllowed
    ? []
    : [`${file.path} imports ${what} ${used.specifier}: ${from} may not`.replace("  ", " ")];
}

function misplacedPackage(file: SourceFile, { specifier }: Import): string[] {
  const from = partOf(file.path);
  const isMisplaced = RESERVED.some(
    ({ packages, parts }) => packages.some((name) => matches(name, specifier)) && !parts.includes(from),
  );
  return isMisplaced ? [`${file.path} imports ${specifier}: ${from} may not`] : [];
}

function matches(name: string, specifier: string): boolean {
  if (name.endsWith("*")) return specifier.startsWith(name.slice(0, -1));
  return specifier === name || specifier.startsWith(`${name}/`);
}

/** `engine/decide.ts` is part of `engine`, `errors.ts` is `errors`. */
function partOf(path: string): string {
  return path.split("/")[0]?.replace(/\.ts$/, "") ?? path;
}

function cycles(): string[] {
  const targets = new Map(
    files.map((file) => [file.path, file.imports.flatMap((used) => targetOf(file, used) ?? [])]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      found.push([...trail.slice(start), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const target of new Set(targets.get(path))) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return found;
}
