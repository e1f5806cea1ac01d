import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCommandRunner } from "../../../src/adapters/process/command-runner.js";
import { type ProcessOptions, runProcess } from "../../../src/adapters/process/run-process.js";
import { createRedactor } from "../../../src/redact.js";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "crunch-test-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const PATH = process.env.PATH ?? "";
const run = (argv: readonly string[], options: Partial<ProcessOptions> = {}) =>
  runProcess({
    argv,
    directory,
    env: { PATH },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    redact: (text) => text,
    graceMs: 200,
    ...options,
  });
const sh = (script: string, options: Partial<ProcessOptions> = {}) => run(["sh", "-c", script], options);
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(existsSync(`/proc/${pid}`) ? readProc(pid) : "");
  } catch {
    return false;
  }
};
const readProc = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "State: Z";
  }
};
const pidIn = async (file: string) => Number(await readFile(join(directory, file), "utf8"));

describe("a command", () => {
  it("gets its arguments as they are, its input, and only the given environment", async () => {
    const title = '"; touch canary #$(id)`id`\n\u202e';
    const script =
      "const i=require('fs').readFileSync(0,'utf8');console.log(JSON.stringify([process.argv[1],i,process.env]))";
    const result = await run([process.execPath, "-e", script, title], { input: "hello", env: { A: "1" } });
    expect(result).toMatchObject({ status: "exited", exitCode: 0, truncated: false });
    expect(JSON.parse(result.output)).toEqual([title, "hello", { A: "1" }]);
    expect(existsSync(join(directory, "canary"))).toBe(false);
  });

  it("reports its exit code, and the signal that ended it", async () => {
    expect(await sh("echo out; echo err >&2; exit 3")).toMatchObject({ status: "exited", exitCode: 3 });
    expect(await sh("kill -9 $$")).toMatchObject({ status: "exited", exitCode: null, killedBy: "SIGKILL" });
  });

  it.each([
    [["no-such-program-here"], "was not found"],
    [[], "is empty"],
    [["bad\0name"], "could not start"],
  ])("that can't start says why: %j", async (argv, reason) => {
    const result = await run(argv);
    expect(result).toMatchObject({ status: "not_started", exitCode: null });
    expect(result.output).toContain(reason);
  });

  it("in a folder that does not exist says so", async () => {
    const result = await run(["true"], { directory: join(directory, "gone") });
    expect(result).toMatchObject({
      status: "not_started",
      output: expect.stringContaining("folder does not exist"),
    });
  });

  it("may leave without reading its input", async () => {
    expect(await sh("exit 0", { input: "x".repeat(5_000_000) })).toMatchObject({ exitCode: 0 });
  });

  it("that never ends is killed at its time limit, with its whole group", async () => {
    const result = await sh("trap '' TERM; sleep 100 & echo $! > child; sleep 100 & wait; wait; sleep 100", {
      timeoutMs: 300,
    });
    expect(result).toMatchObject({ status: "timed_out", killedBy: "SIGKILL" });
    expect(result.durationMs).toBeLessThan(2_000);
    expect(isAlive(await pidIn("child"))).toBe(false);
  });

  it("may clean up when it is asked to stop", async () => {
    const result = await sh("trap 'echo saved; exit 0' TERM; while :; do sleep 0.05; done", {
      timeoutMs: 300,
    });
    expect(result).toMatchObject({
      status: "timed_out",
      exitCode: 0,
      output: expect.stringContaining("saved\n"),
    });
  });

  it("is interrupted by the signal, also before it starts", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    expect(await sh("sleep 100", { signal: controller.signal })).toMatchObject({ status: "interrupted" });
    expect(await sh("touch started", { signal: controller.signal })).toMatchObject({ status: "interrupted" });
    expect(existsSync(join(directory, "started"))).toBe(false);
  });

  it("does not hang on a grandchild that ignores SIGTERM and holds the output", async () => {
    const result = await sh(
      "(trap '' TERM HUP; echo $$ ; sleep 100) & sh -c 'trap \"\" TERM; echo $$ > child; sleep 100; sleep 100' & sleep 0.2; exit 0",
    );
    expect(result).toMatchObject({ status: "exited", exitCode: 0 });
    expect(result.durationMs).toBeLessThan(1_500);
    expect(isAlive(await pidIn("child"))).toBe(false);
  });

  it("does not hang on a grandchild that left the group and holds the output", async () => {
    const script = `require('child_process').spawn('sleep',['5'],{detached:true,stdio:'inherit'}).unref();console.log('bye')`;
    const result = await run([process.execPath, "-e", script]);
    expect(result).toMatchObject({ status: "exited", exitCode: 0, output: "bye\n" });
    expect(result.durationMs).toBeLessThan(2_000);
  });

  it("may print a million lines: the end is kept, in bounded memory, and every line was seen", async () => {
    let lines = 0;
    const before = process.memoryUsage().rss;
    const result = await run(["seq", "1", "1000000"], { onLine: () => lines++ });
    expect(lines).toBe(1_000_000);
    expect(result.truncated).toBe(true);
    expect(result.output.length).toBeLessThanOrEqual(64 * 1024);
    expect(result.output.endsWith("999999\n1000000\n")).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    if (process.env.SHOW_TIMES) console.log("1M lines", result.durationMs, "ms");
  });

  it("can't slip a secret through where the kept output begins", async () => {
    const secret = "k7QpZt9xVb2mNw4LrYcHd8sJf0aGe";
    const redact = createRedactor([secret]);
    for (const shift of [0, 7, 15, 22]) {
      const script = `process.stdout.write('${secret}'.repeat(9000)+'z'.repeat(${shift}))`;
      const { output } = await run([process.execPath, "-e", script], { redact });
      expect(output).toMatch(/^[[\]a-z]*z*$/);
      expect(output).not.toContain("7Qp");
    }
  });
});

describe("the command runner of gates", () => {
  it("redacts, neutralises workflow commands and hands on no token", async () => {
    const runner = createCommandRunner({
      redact: createRedactor(["hunter2hunter2"]),
      parentEnv: { PATH, GITHUB_TOKEN: "hunter2hunter2", INPUT_TOKEN: "x", HOME: "/h" },
    });
    const argv = ["sh", "-c", "echo ::set-output name=a::b; echo hunter2hunter2; env"];
    const result = await runner.run({
      argv,
      directory,
      timeoutMs: 5_000,
      signal: new AbortController().signal,
    });
    expect(result.output.startsWith(": :set-output name=a::b\n[redacted]\n")).toBe(true);
    expect(result.output).not.toMatch(/TOKEN/);
    expect(Object.keys(result).sort()).toEqual(["durationMs", "exitCode", "output", "status"]);
  });
});
