import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createAgentRunner } from "../../../src/adapters/agents/index.js";

it("the example of docs/agent-contract.md works as printed", async () => {
  const page = await readFile(new URL("../../../docs/agent-contract.md", import.meta.url), "utf8");
  const script = /```sh\n([\s\S]+?)```/.exec(page)?.[1] ?? "";
  const workspace = await mkdtemp(join(tmpdir(), "crunch-test-"));
  await mkdir(join(workspace, "agents"));
  await writeFile(join(workspace, "agents/spec-writer.sh"), script);
  const agent = createAgentRunner(
    { kind: "command", name: "spec-writer", command: ["sh", "agents/spec-writer.sh"], env: {}, passEnv: [] },
    { redact: (text) => text },
  );
  const result = await agent.run({
    context: {
      protocol: 1,
      repository: "octo/app",
      phase: "enrich",
      phase_version: 1,
      attempt: 1,
      issue: { number: 42, title: "A `title`", body: "The body", labels: [], url: "https://example.test/42" },
      workspace,
      output_folder: ".claude/crunch/42",
      task: { name: "work", does: "", role: "coder", kind: "work", item: null },
      state: {},
      checkpoint_id: "CP-enrich-20250114-a3f2",
      previous: { summaries: {}, notes: "- before\n", error: null, gates: [] },
    },
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  expect(result).toMatchObject({
    status: "succeeded",
    summary: "Wrote the spec of issue 42.",
    outputs: [{ name: "spec", path: ".claude/crunch/42/spec.md" }],
    notes: "- before\n- started on the spec\n",
    progress: [{ message: "Reading the issue" }, { message: "Done", percent: 100 }],
  });
  expect(await readFile(join(workspace, ".claude/crunch/42/spec.md"), "utf8")).toBe(
    "# A `title`\n\nThe body\n",
  );
  await rm(workspace, { recursive: true });
});
