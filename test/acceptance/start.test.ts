import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli } from "./world.js";

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly seconds: number;
}

function startOnce(env: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Ended> {
  const began = Date.now();
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env, NO_COLOR: "1" }, timeout: 90_000 };
    const child = execFile(
      process.execPath,
      [cli, "start", "--once", "--pace", "0", ...flags],
      options,
      (_, out, err) =>
        resolve({ code: child.exitCode ?? -1, output: out + err, seconds: (Date.now() - began) / 1000 }),
    );
  });
}

describe.concurrent("crunch start --once", () => {
  it("shows the sample issue going to done in under a minute, and exits with 0", {
    timeout: 90_000,
  }, async () => {
    const { code, output, seconds } = await startOnce({});
    expect(output).toMatch(/implementing +succeeded.* tests passed/);
    expect(output).toMatch(/ready +skipped/);
    expect(output).toMatch(/\d+ checkpoints, every parent and hash verified/);
    expect(output).toMatch(/requests +\d+ to GitHub/);
    expect(output).toMatch(/pull request +http:\S+\/pull\/2/);
    expect(output).not.toContain("Not done");
    expect(code).toBe(0);
    expect(seconds).toBeLessThan(60);
  });

  it("shows another workflow too, with a bot that is killed on the way", { timeout: 90_000 }, async () => {
    const { code, output } = await startOnce({}, "--workflow", "orchestrator", "--kill", "data");
    expect(output).toMatch(/plan-consensus +succeeded[\s\S]*develop +succeeded.* tests passed/);
    expect(output).toMatch(/\d+ checkpoints, every parent and hash verified/);
    expect(output).toMatch(/done again +data \(attempt 2\)/);
    expect(code).toBe(0);
  });

  it("refuses to be killed in a phase that there is none of", async () => {
    const { code, output } = await startOnce({}, "--kill", "enrihc");
    expect(output).toContain('No agent works in a phase "enrihc" of crunch');
    expect(code).toBe(1);
  });

  it("exits with 1 and the reason where the gate's command can't run", { timeout: 90_000 }, async () => {
    // All that Crunch itself needs is there, but not the `node` of the gate.
    const bin = mkdtempSync(join(tmpdir(), "crunch-path-"));
    try {
      for (const tool of ["git", "tar", "gzip", "sh"]) symlinkSync(whereIs(tool), join(bin, tool));
      const { code, output } = await startOnce({ PATH: bin });
      expect(output).toMatch(/Not done: .*tests \(node --test: could not be started\)/);
      expect(output).toMatch(/implementing +failed/);
      expect(output).toMatch(/\d+ checkpoints, every parent and hash verified/);
      expect(code).toBe(1);
    } finally {
      rmSync(bin, { recursive: true, force: true });
    }
  });
});

function whereIs(tool: string): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = folders.map((folder) => join(folder, tool)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${tool} is not on the PATH`);
  return found;
}
