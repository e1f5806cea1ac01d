import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { stateLabel } from "../../workflow/labels.js";
import { presets } from "../../workflow/presets/index.js";

const folder = fileURLToPath(new URL("../../../sample/", import.meta.url));

export const sampleOwner = "octo";
export const sampleRepo = "durations";

export type SampleWorkflow = keyof typeof presets;

const shapeOf = (workflow: SampleWorkflow) =>
  presets[workflow]({ approval: "none", projectType: null, include: [] });

export function firstLabelOf(workflow: SampleWorkflow): string {
  return stateLabel(shapeOf(workflow).first);
}

/** The phases that agents work in. */
export function workingPhases(workflow: SampleWorkflow): string[] {
  return Object.entries(shapeOf(workflow).phases).flatMap(([name, phase]) =>
    (phase.type === "agent" || phase.type === "tasks") && phase.skip === undefined ? [name] : [],
  );
}

/** What another workflow than the default needs; the phases that change code have to pass the tests. */
const otherConfigs: Readonly<Partial<Record<SampleWorkflow, string>>> = {
  orchestrator: configFor("orchestrator", "develop"),
  "dev-loop": configFor("dev-loop", "implementation"),
};

function configFor(workflow: SampleWorkflow, coding: string): string {
  const gate = "{ type: command, name: tests, command: [node, --test] }";
  return `workflow: ${workflow}\nagent: sample\nphases:\n  ${coding}: { gates: [${gate}] }\n`;
}

/** The sample repo's files: a tiny program with a bug, and a test that shows it. */
export function sampleFiles(workflow: SampleWorkflow = "crunch"): Record<string, string> {
  const root = join(folder, "repo");
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  const config = otherConfigs[workflow];
  return {
    ...Object.fromEntries(
      paths.map((path) => [relative(root, path).replaceAll(sep, "/"), readFileSync(path, "utf8")]),
    ),
    ...(config !== undefined && { ".github/crunch.yml": config }),
  };
}

export function sampleIssue(): { readonly title: string; readonly body: string } {
  const [title = "", ...body] = readFileSync(join(folder, "issue.md"), "utf8").split("\n");
  return { title, body: body.join("\n").trim() };
}

/** What the operator of the sample's bot allows to run on this machine. JSON is YAML too. */
export function sampleOperatorFile(paceMs: number): string {
  const command = [process.execPath, join(folder, "agent.mjs")];
  const sample = { command, timeout: "5m", env: { CRUNCH_SAMPLE_PACE_MS: String(paceMs) } };
  return JSON.stringify({ agents: { sample }, commands: [["node", "--test"]] });
}
