import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../../sample/", import.meta.url));

export const sampleOwner = "octo";
export const sampleRepo = "durations";

/** The sample repo's files: a tiny program with a bug, and a test that shows it. */
export function sampleFiles(): Record<string, string> {
  const root = join(folder, "repo");
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    paths.map((path) => [relative(root, path).replaceAll(sep, "/"), readFileSync(path, "utf8")]),
  );
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
