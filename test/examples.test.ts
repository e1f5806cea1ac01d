import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer, createFileStore, renderWorkflowPicture } from "crunch";
import { afterEach, expect, it, vi } from "vitest";
import { release, releaseWorkflow } from "../examples/release-workflow.js";
import { parseRepoConfig, parseWorkflowFile } from "../src/config/parse-config.js";

afterEach(() => vi.restoreAllMocks());

const page = readFileSync(new URL("../docs/library.md", import.meta.url), "utf8");
const source = readFileSync(new URL("../examples/checkpoint-service.ts", import.meta.url), "utf8");

/** Imports the package as its users do: what `exports` names, as it was built. */
async function outputOf(example: () => Promise<unknown>): Promise<string> {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(String(line)));
  await example();
  return lines.join("\n");
}

it("the example of the library dies, goes on, compares and goes back, as its page says", async () => {
  const output = await outputOf(() => import("../examples/checkpoint-service.js"));
  const stable = output.replaceAll(/CP-(\w+)-\d{8}-[0-9a-f]+/g, "CP-$1-…");
  for (const line of [
    "begun: batch 1 of implementing",
    "stored: batch_complete, next is batch_2_task_1",
    'refused: The task "tests" is not ready: it needs charts.',
    "resumed: attempt 2, batch_3_task_1",
    'to do: [["tests"]]',
    "done: implementing",
    "rolled back: removed theme.css, notes/builder.md",
    "undone: restored theme.css, notes/builder.md",
    "chain: phase_start → batch_complete → batch_complete → phase_start → batch_complete → phase_transition → rollback → rollback",
  ]) {
    expect(stable.split("\n")).toContain(line);
    expect(page).toContain(line);
  }
  expect(output).toContain("notes/builder.md");
  expect(page).toContain(source.trimEnd());
});

it("the page about workflows shows the example as it is", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const page = read("../docs/workflows.md");
  expect(page).toContain(read("../examples/release-workflow.ts").trimEnd());
  const tools = { check: async () => {}, publish: async () => {} };
  const picture = renderWorkflowPicture(releaseWorkflow([], tools));
  expect(page).toContain(`\`\`\`mermaid\n${picture}\n\`\`\``);
});

it("the example of a workflow checks, asks, stops at what fails, and publishes each package once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "crunch-example-"));
  try {
    const done: string[] = [];
    let isDown = true;
    const tools = {
      check: async (name: string) => void done.push(`check ${name}`),
      publish: async (name: string) => {
        if (name === "b" && isDown) throw new Error("the registry is down");
        done.push(`publish ${name}`);
      },
    };
    const packages = ["a", "b", "c"];
    const workflow = releaseWorkflow(packages, tools);
    const say = (phase: string, response: string) =>
      answer(workflow, { store: createFileStore(folder), issue: 1, phase, response, by: "ana" });
    expect(await release(folder, packages, tools)).toMatchObject({
      status: "waiting",
      questions: [{ phase: "approve", prompt: "Publish a, b, c?" }],
    });
    await say("approve", "approve");
    expect(await release(folder, packages, tools)).toMatchObject({
      status: "waiting",
      questions: [{ phase: "publish", prompt: expect.stringContaining("the registry is down") }],
    });
    isDown = false;
    await say("publish", "retry");
    expect(await release(folder, packages, tools)).toMatchObject({
      status: "finished",
      state: { published: ["a", "b", "c"] },
    });
    expect(done).toEqual([
      ...packages.map((name) => `check ${name}`),
      ...packages.map((name) => `publish ${name}`),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("the example of a workflow in YAML, and the configuration that names it, are right", () => {
  const read = (path: string) => readFileSync(new URL(`../examples/${path}`, import.meta.url), "utf8");
  const config = parseRepoConfig(read("crunch-config.yml"));
  if (config.status === "invalid") throw new Error(JSON.stringify(config.problems));
  const { agents, workflow } = config.config;
  expect(workflow).toEqual({ kind: "file", path: ".github/release-flow.yml" });
  const parsed = parseWorkflowFile(read("workflow.yml"), "workflow.yml", Object.keys(agents));
  if (parsed.status === "invalid") throw new Error(JSON.stringify(parsed.problems));
  const { shape, phases } = parsed.config;
  expect(new Set(Object.values(shape.phases).map(({ type }) => type)).size).toBe(5);
  expect(Object.keys(phases)).toEqual(expect.arrayContaining(Object.keys(config.config.phases)));
});
