import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { actionInputs, actionOutputs } from "../../src/entry/action-contract.js";

const action: { inputs: Record<string, unknown>; outputs: Record<string, unknown> } = parse(
  read("action.yml"),
);
const readme = read("README.md");

describe("action.yml, src/entry/action-contract.ts and the README", () => {
  it("list the same inputs", () => {
    expect(Object.keys(action.inputs).sort()).toEqual([...actionInputs].sort());
    expect(tableNames("Inputs").sort()).toEqual([...actionInputs].sort());
  });

  it("list the same outputs", () => {
    expect(Object.keys(action.outputs).sort()).toEqual([...actionOutputs].sort());
    expect(tableNames("Outputs").sort()).toEqual([...actionOutputs].sort());
  });
});

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}

/** The first column of the table under `## Inputs and outputs`, `### <heading>`. */
function tableNames(heading: string): string[] {
  const chapter = partUnder(readme, "## Inputs and outputs", /^## /m);
  const section = partUnder(chapter, `### ${heading}`, /^### /m);
  return [...section.matchAll(/^\|\s*`([^`]+)`\s*\|/gm)].map(([, name = ""]) => name);
}

function partUnder(text: string, heading: string, next: RegExp): string {
  const [, rest] = `\n${text}`.split(`\n${heading}\n`);
  if (rest === undefined) throw new Error(`README.md has no heading "${heading}"`);
  const end = rest.search(next);
  return end === -1 ? rest : rest.slice(0, end);
}
