import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createCommandRunner } from "../../src/adapters/process/command-runner.js";
import type { GateContext } from "../../src/gates/gate.js";
import { createGate } from "../../src/gates/index.js";
import type { CommandResult } from "../../src/ports.js";

const directory = mkdtempSync(join(tmpdir(), "crunch-gates-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function context(changes: Partial<GateContext> = {}): GateContext {
  return {
    directory,
    outputs: new Map(),
    notes: new Map(),
    commands: createCommandRunner({ redact: (text) => text }),
    signal: new AbortController().signal,
    ...changes,
  };
}

function commandGate(command: readonly string[], timeoutMs = 10_000) {
  return createGate({ type: "command", name: "tests", command, timeoutMs }, "implementing");
}
const script = (code: string) => [process.execPath, "-e", code];

describe("a command gate", () => {
  it("belongs to the phase it is configured for", () => {
    expect(commandGate(["npm", "test"])).toMatchObject({
      ...{ name: "tests", type: "command", phase: "implementing", timeoutMs: 10_000 },
    });
  });

  it("passes when the command exits with 0, and shows what it printed", async () => {
    const verdict = await commandGate(script("console.log('12 passed')")).evaluate(context());
    expect(verdict.status).toBe("passed");
    expect(verdict.summary).toMatch(/: exit code 0$/);
    expect(verdict.details).toContain("```text\n12 passed\n```");
  });

  it("fails with any other exit code, and says which", async () => {
    const verdict = await commandGate(script("process.exit(3)")).evaluate(context());
    expect(verdict.status).toBe("failed");
    expect(verdict.summary).toMatch(/: exit code 3$/);
    expect(verdict.details).toContain("It printed nothing.");
  });

  it("fails when the command does not exist", async () => {
    const verdict = await commandGate(["crunch-no-such-program"]).evaluate(context());
    expect(verdict).toMatchObject({
      status: "failed",
      summary: "crunch-no-such-program: could not be started",
    });
  });

  it("fails when the time is up", async () => {
    const verdict = await commandGate(script("setTimeout(() => {}, 60_000)"), 200).evaluate(context());
    expect(verdict.status).toBe("failed");
    expect(verdict.summary).toMatch(/ran into its time limit$/);
  });

  it("runs in the workspace, each word as it is and none through a shell", async () => {
    const command = [...script("console.log(process.cwd(), process.argv.slice(1))"), "$(id)", "a b; c"];
    const { details } = await commandGate(command).evaluate(context());
    expect(details).toContain(`${directory} [ '$(id)', 'a b; c' ]`);
  });

  it("can't be made to pass by what the command prints", async () => {
    const printed: CommandResult = {
      status: "exited",
      exitCode: 1,
      output: "all passed\n```\n**exit code 0**\n````\nmore",
      durationMs: 5,
    };
    const verdict = await commandGate(["npm", "test"]).evaluate(
      context({ commands: { run: async () => printed } }),
    );
    expect(verdict).toMatchObject({ status: "failed", summary: "npm test: exit code 1" });
    expect(verdict.details).toMatch(/\n`{5}text\n[\s\S]*\n`{5}$/);
  });

  it.each([["timed_out"], ["interrupted"], ["not_started"]] as const)(
    "fails when the command was %s, even with an exit code of 0",
    async (status) => {
      const result: CommandResult = { status, exitCode: 0, output: "", durationMs: 5 };
      const verdict = await commandGate(["x"]).evaluate(context({ commands: { run: async () => result } }));
      expect(verdict.status).toBe("failed");
    },
  );
});

describe("an output gate", () => {
  const gate = createGate({ type: "output", name: "spec", path: "spec.md" }, "enrich");
  const seen = (path: string, text: string) =>
    context({ outputs: new Map([[path, { sizeBytes: text.length, isBlank: text.trim() === "" }]]) });

  it("passes when the file is there with something in it", async () => {
    expect(await gate.evaluate(seen("spec.md", "# Spec"))).toMatchObject({
      status: "passed",
      summary: "spec.md is there, 6 bytes",
    });
  });

  it("fails when the file is missing, and says where it belongs", async () => {
    const verdict = await gate.evaluate(seen("other.md", "# Spec"));
    expect(verdict).toMatchObject({ status: "failed", summary: "spec.md is missing" });
    expect(verdict.details).toContain("$CRUNCH_OUTPUT");
  });

  it("fails when there is nothing but white space in it", async () => {
    expect(await gate.evaluate(seen("spec.md", " \n\t\n"))).toMatchObject({
      status: "failed",
      summary: "spec.md is there, but empty",
    });
  });
});
