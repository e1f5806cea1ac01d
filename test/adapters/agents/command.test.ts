import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentRunner } from "../../../src/adapters/agents/index.js";
import type { AgentContext, AgentProgress, AgentResult } from "../../../src/ports.js";
import { createRedactor } from "../../../src/redact.js";

const SECRET = "s3cr3tValueOfTheModelKey42";
const HOSTILE = '"; touch canary #$(touch canary)`touch canary`\n\u202e';
let workspace = "";
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "crunch-test-"));
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

function contextFor(overrides: Partial<AgentContext> = {}): AgentContext {
  return {
    protocol: 1,
    repository: "octo/app",
    phase: "enrich",
    phase_version: 1,
    attempt: 1,
    issue: { number: 42, title: HOSTILE, body: "b", labels: [], url: "https://example.test/42" },
    workspace,
    output_folder: ".claude/crunch/42",
    task: { name: "work", does: "", role: "coder", kind: "work", item: null },
    state: {},
    checkpoint_id: "CP-enrich-20250114-a3f2",
    previous: { summaries: {}, notes: null, error: null, gates: [] },
    ...overrides,
  };
}

interface RunOptions {
  readonly context?: Partial<AgentContext>;
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: AgentProgress) => void;
}

function run(command: readonly string[], options: RunOptions = {}): Promise<AgentResult> {
  const definition = {
    kind: "command",
    name: "builder",
    command,
    env: { MODE: "fast" },
    passEnv: ["MODEL_KEY", "GITHUB_TOKEN"],
  } as const;
  const parentEnv = { PATH: process.env.PATH, MODEL_KEY: SECRET, GITHUB_TOKEN: "ghs_never", OTHER: "x" };
  return createAgentRunner(definition, { redact: createRedactor([SECRET]), parentEnv }).run({
    context: contextFor(options.context),
    timeoutMs: options.timeoutMs ?? 10_000,
    signal: new AbortController().signal,
    onProgress: options.onProgress ?? (() => {}),
  });
}
const node = (script: string, options?: RunOptions) =>
  run([process.execPath, "-e", `const fs=require('fs');const env=process.env;${script}`], options);
const sh = (script: string, options?: RunOptions) => run(["sh", "-c", script], options);
const writesResult = (value: string) => `fs.writeFileSync(env.CRUNCH_RESULT, ${JSON.stringify(value)});`;

describe("what an agent is given", () => {
  it("is the context, on its input and in a file, and the workspace as its folder", async () => {
    await node(
      "fs.writeFileSync('seen', JSON.stringify([fs.readFileSync(0,'utf8'), fs.readFileSync(env.CRUNCH_CONTEXT,'utf8'), env.CRUNCH_OUTPUT]))",
    );
    const [stdin, file, output] = JSON.parse(await readFile(join(workspace, "seen"), "utf8"));
    expect(JSON.parse(stdin)).toEqual(contextFor());
    expect(JSON.parse(file)).toEqual(contextFor());
    expect(output).toBe(join(workspace, ".claude/crunch/42"));
    expect(existsSync(output)).toBe(true);
  });

  it("is data: a hostile title runs nothing", async () => {
    const result = await sh("cat > seen");
    expect(result.status).toBe("succeeded");
    expect(JSON.parse(await readFile(join(workspace, "seen"), "utf8")).issue.title).toBe(HOSTILE);
    expect(existsSync(join(workspace, "canary"))).toBe(false);
  });

  it("is an environment without any token of Crunch's", async () => {
    await sh("env | cut -d= -f1 | sort > names");
    const names = (await readFile(join(workspace, "names"), "utf8")).trim().split("\n");
    expect(names).toContain("MODEL_KEY");
    expect(names).toContain("MODE");
    expect(names.filter((name) => /TOKEN|GITHUB|OTHER/.test(name))).toEqual([]);
  });

  it("has the notes of the agent before it, to continue", async () => {
    const previous = { summaries: {}, notes: "- first\n", error: null, gates: [] };
    const result = await sh('echo "- second" >> "$CRUNCH_NOTES"', { context: { previous } });
    expect(result.notes).toBe("- first\n- second\n");
  });

  it("is taken away afterwards", async () => {
    await sh('dirname "$CRUNCH_CONTEXT" > where');
    expect(existsSync((await readFile(join(workspace, "where"), "utf8")).trim())).toBe(false);
    expect(await readdir(workspace)).toEqual([".claude", "where"]);
  });
});

describe("what an agent answers", () => {
  it("is its result file", async () => {
    const answer = {
      summary: "Wrote the spec.",
      outputs: [{ name: "spec", path: ".claude/crunch/42/spec.md", summary: "The spec" }],
      token_usage: { input: 10, output: 20 },
      acceptance_criteria: { "It builds": true, "It is fast": false },
    };
    expect(await node(writesResult(JSON.stringify(answer)))).toMatchObject({
      status: "succeeded",
      exitCode: 0,
      summary: answer.summary,
      outputs: answer.outputs,
      tokenUsage: answer.token_usage,
      acceptanceCriteria: answer.acceptance_criteria,
      notes: null,
    });
  });

  it("may leave out anything", async () => {
    expect(await node(writesResult('{"token_usage":{"input":5}}'))).toMatchObject({
      status: "succeeded",
      tokenUsage: { input: 5, output: 0 },
      outputs: [],
    });
    expect(await sh("true")).toMatchObject({
      status: "succeeded",
      summary: "Agent `builder` finished without a summary.",
    });
  });

  it.each([
    ["{", "malformed"],
    ['{"summary": 7}', "`summary`"],
    ['{"token_usage": {"input": "many"}}', "`token_usage.input`"],
    ['{"acceptance_criteria": {"It builds": "yes"}}', "`acceptance_criteria.It builds`"],
    [`"${"x".repeat(1024 * 1024)}"`, "the limit is 1048576"],
  ])("fails the run when it is malformed: %.40s", async (content, reason) => {
    const literal = content.length > 1_000 ? `'"' + 'x'.repeat(1024 * 1024) + '"'` : JSON.stringify(content);
    const result = await node(`fs.writeFileSync(env.CRUNCH_RESULT, ${literal});`);
    expect(result).toMatchObject({ status: "failed", exitCode: 0 });
    expect(result.summary).toContain("its result file is malformed");
    expect(result.summary).toContain(reason);
  });

  it("is not read from a link or a pipe", async () => {
    const result = await sh(
      'rm -f "$CRUNCH_NOTES"; ln -s /etc/passwd "$CRUNCH_NOTES"; mkfifo "$CRUNCH_RESULT"',
    );
    expect(result).toMatchObject({ status: "succeeded", notes: null });
  });

  it("fails with its exit code and the end of its output", async () => {
    const result = await sh("echo working; echo broken >&2; exit 3");
    expect(result).toMatchObject({
      status: "failed",
      exitCode: 3,
      summary: "Agent `builder` exited with code 3.",
      outputTail: "working\nbroken\n",
    });
  });

  it("fails when its program is not there", async () => {
    const result = await run(["no-such-agent"]);
    expect(result).toMatchObject({ status: "failed", exitCode: null });
    expect(result.summary).toContain("`no-such-agent` was not found");
  });

  it("is progress in whole characters, where a line is too long", async () => {
    const line = JSON.stringify({ message: `x${"😀".repeat(2_000)}` });
    const { progress } = await node(`fs.writeFileSync(env.CRUNCH_PROGRESS, ${JSON.stringify(line)});`);
    expect(progress[0]?.message).toBe(`x${"😀".repeat(999)}`);
  });

  it("is progress, while it works; malformed lines are skipped and counted", async () => {
    const seen: AgentProgress[] = [];
    let atFirst = 0;
    const script = `printf '{"message":"one","percent":10}\\nnonsense\\n{"mess' >> "$CRUNCH_PROGRESS"; sleep 0.7; printf 'age":"two"}\\n{"message":"three","percent":900}' >> "$CRUNCH_PROGRESS"`;
    const startedAt = performance.now();
    const result = await sh(script, {
      onProgress: (progress) => {
        if (seen.length === 0) atFirst = performance.now() - startedAt;
        seen.push(progress);
        throw new Error("a display that fails");
      },
    });
    expect(atFirst).toBeLessThan(650);
    expect(seen.map(({ message, percent }) => [message, percent])).toEqual([
      ["one", 10],
      ["two", null],
      ["three", 100],
    ]);
    expect(result.progress).toEqual(seen);
    expect(result.outputTail).toContain("1 malformed progress lines were skipped");
  });

  it("is cut, with a note, where it is too long", async () => {
    const result = await node(
      "fs.writeFileSync(env.CRUNCH_NOTES,'é'.repeat(200000));fs.writeFileSync(env.CRUNCH_PROGRESS,(JSON.stringify({message:'m'.repeat(90)})+'\\n').repeat(20000))",
    );
    expect(result.notes).toMatch(/^é+\n\n_\(Crunch cut the notes here/);
    expect(result.progress.length).toBeGreaterThan(9_000);
    expect(result.progress.length).toBeLessThan(11_000);
    expect(result.outputTail).toContain("up to its limit");
  });

  it("holds no secret and no workflow command, wherever it says them", async () => {
    const answer = {
      summary: `::error::${SECRET}`,
      outputs: [{ name: SECRET, path: SECRET, summary: SECRET }],
      acceptance_criteria: { [SECRET]: true },
    };
    const result = await node(
      `${writesResult(JSON.stringify(answer))} const s=env.MODEL_KEY; fs.writeFileSync(env.CRUNCH_NOTES, s); fs.writeFileSync(env.CRUNCH_PROGRESS, JSON.stringify({message:s})); console.log('::add-mask::x'); console.log(s.split('').join('\\n')); console.log(Buffer.from('x'+s).toString('base64')); console.log(s.slice(5));`,
    );
    expect(JSON.stringify(result)).not.toContain(SECRET.slice(6));
    expect(result.summary).toBe(": :error::[redacted]");
    expect(result.outputTail).toBe(": :add-mask::x\n[redacted]\n[redacted]\n[redacted]\n");
  });
});

describe("an agent that hangs", () => {
  it("is killed at its time limit with its group, and what it wrote is kept", async () => {
    const result = await sh('echo "so far" > "$CRUNCH_NOTES"; (trap "" TERM; sleep 60) & sleep 60', {
      timeoutMs: 400,
    });
    expect(result).toMatchObject({ status: "timed_out", notes: "so far\n" });
    expect(result.summary).toContain("time limit");
    expect(result.durationMs).toBeLessThan(3_000);
  });
});

it("the output folder is not made through a link that the repository has", async () => {
  const outside = await mkdtemp(join(tmpdir(), "crunch-test-"));
  await symlink(outside, join(workspace, ".claude"));
  await sh("true");
  expect(await readdir(outside)).toEqual([]);
  await rm(outside, { recursive: true });
});
