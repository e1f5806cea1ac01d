import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentRunner } from "../../src/adapters/agents/index.js";
import { parseRepoConfig } from "../../src/config/parse-config.js";

const sample = fileURLToPath(new URL("../../sample/", import.meta.url));
const outputFolder = ".claude/crunch/42";
let workspace: string;
let notes: string | null;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "crunch-sample-"));
  notes = null;
  await cp(join(sample, "repo"), workspace, { recursive: true });
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

describe("the sample repo", () => {
  it("has a configuration that Crunch accepts", async () => {
    const file = ".github/crunch.yml";
    const text = await readFile(join(sample, "repo", file), "utf8");
    expect(parseRepoConfig(text, file, { agentsElsewhere: true })).toMatchObject({
      status: "ok",
      config: { agent: "sample" },
    });
  });

  it("has a bug that its tests show", async () => {
    expect(await runTests()).toMatchObject({ exitCode: 1 });
  });
});

describe("the sample agent", () => {
  it("takes the sample issue through all four phases, and the tests pass from implementing on", async () => {
    expect(await run("enrich")).toMatchObject({
      status: "succeeded",
      outputs: [{ name: "spec", path: `${outputFolder}/spec.md` }],
      tokenUsage: { input: 0, output: 0 },
    });
    const spec = await written("spec.md");
    expect(spec).toContain("# Durations of several parts lose all but the first");
    expect(spec).toContain("## Files to change\n\n- `src/parse-duration.mjs`");
    expect(spec).toContain("- `test/parse-duration.test.mjs`");
    expect(await runTests()).toMatchObject({ exitCode: 1 });

    const implementing = await run("implementing");
    expect(implementing).toMatchObject({ status: "succeeded" });
    expect(implementing.summary).toContain("before: 2 passed, 2 failed; after: 4 passed, 0 failed");
    expect(Object.values(implementing.acceptanceCriteria)).toEqual([true, true, true]);
    expect(await runTests()).toMatchObject({ exitCode: 0 });

    expect(await run("validation")).toMatchObject({ status: "succeeded" });
    expect(await written("validation.md")).toContain("a duration of several parts is their sum");

    expect(await run("docs")).toMatchObject({ status: "succeeded" });
    const changelog = await readFile(join(workspace, "CHANGELOG.md"), "utf8");
    expect(changelog).toContain(
      "# Changelog\n\n## Unreleased\n\n- Fixed: Durations of several parts lose all but the first (#42).\n\n## 1.2.0",
    );
    expect(await written("docs.md")).toContain("(#42)");
  });

  it("says in every summary and in its notes that it is a script and not a model", async () => {
    for (const phase of ["enrich", "implementing", "validation", "docs"]) {
      expect((await run(phase)).summary).toContain("a script and not a model");
    }
    expect(notes).toContain("a script and not a model");
  });

  it("keeps notes under the five headings, with one line of status a phase, and reports progress", async () => {
    await run("enrich");
    const { progress } = await run("implementing");
    expect(notes?.match(/^## .+$/gm)).toEqual([
      "## Patterns Discovered",
      "## Gotchas Encountered",
      "## Key Decisions",
      "## Observations",
      "## Status",
    ]);
    expect(notes).toMatch(/## Status\n\n- enrich: done\. .+\n- implementing: done\. .+\n$/);
    expect(progress.map(({ percent }) => percent)).toEqual([10, 30, 60, 80, 100]);
  });

  it("leaves everything as it is when a phase runs again after its work was done", async () => {
    for (const phase of ["enrich", "implementing", "validation", "docs"]) await run(phase);
    const files = ["src/parse-duration.mjs", "CHANGELOG.md"];
    const read = () => Promise.all(files.map((path) => readFile(join(workspace, path), "utf8")));
    const before = await read();
    const again = await run("implementing");
    expect(again).toMatchObject({ status: "succeeded" });
    expect(again.summary).toContain("fixed already");
    expect(await run("docs")).toMatchObject({ status: "succeeded" });
    expect(await read()).toEqual(before);
  });

  it("fails, and says so, on tests that fail by another bug than the one it knows", async () => {
    await run("enrich");
    const source = join(workspace, "src/parse-duration.mjs");
    await writeFile(source, "export function parseDuration() {\n  return 0;\n}\n");
    const result = await run("implementing");
    expect(result).toMatchObject({ status: "failed", exitCode: 1 });
    expect(result.outputTail).toContain("not by the one bug");
    expect(await readFile(source, "utf8")).toContain("return 0;");
  });

  it("validates nothing when the tests fail, but writes their real output down", async () => {
    await run("enrich");
    expect(await run("validation")).toMatchObject({ status: "failed" });
    expect(await written("validation.md")).toContain("Result: failed (2 passed, 2 failed)");
  });
});

async function run(phase: string) {
  const [title = "", ...body] = (await readFile(join(sample, "issue.md"), "utf8")).split("\n");
  const agent = createAgentRunner(
    {
      kind: "command",
      name: "sample",
      command: [process.execPath, join(sample, "agent.mjs")],
      env: {},
      passEnv: [],
    },
    { redact: (text) => text },
  );
  const result = await agent.run({
    context: {
      protocol: 1,
      repository: "octo/durations",
      phase,
      phase_version: 1,
      attempt: 1,
      issue: {
        number: 42,
        title,
        body: body.join("\n").trim(),
        labels: [`state:${phase}`],
        url: "https://example.test/42",
      },
      workspace,
      output_folder: outputFolder,
      task: { name: "work", does: "", role: "coder", kind: "work", item: null },
      state: {},
      checkpoint_id: `CP-${phase}-20250114-a3f2`,
      previous: { summaries: {}, notes, error: null, gates: [] },
    },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  notes = result.notes;
  return result;
}

function written(name: string): Promise<string> {
  return readFile(join(workspace, outputFolder, name), "utf8");
}

function runTests(): Promise<{ exitCode: number | string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, ["--test"], { cwd: workspace, env }, (error) => {
      resolve({ exitCode: error ? (error.code ?? "none") : 0 });
    });
  });
}
