import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createFileStore } from "../../src/adapters/fs/checkpoint-store.js";
import { verifyChain } from "../../src/app/verify-chain.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { belongings, useCheckout } from "../adapters/local/checkout.js";
import { ended, latestOf, newest } from "./going-back.js";
import { agentPhases, cli, scriptedConfig } from "./world.js";

const checkout = useCheckout();
const branch = "feature/issue-1-the-work-is-missing";
const issueText = "# The work is missing\n\nPlease write it.\n";

/** Does the phases one by one; rests in the middle of `implementing` as long as there is a file `hold`. */
const agentScript = (dir: string) => `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const dir = ${JSON.stringify(dir)};
const { phase, attempt, previous } = JSON.parse(readFileSync(process.env.CRUNCH_CONTEXT, "utf8"));
const half = existsSync("half.txt") ? readFileSync("half.txt", "utf8") : null;
appendFileSync(join(dir, "journal"), JSON.stringify({ phase, attempt, half, notes: previous.notes }) + "\\n");
appendFileSync(process.env.CRUNCH_NOTES, "- " + phase + "\\n");
if (phase === "implementing") {
  writeFileSync("half.txt", "half\\n");
  writeFileSync(join(dir, "halfway"), "");
  while (existsSync(join(dir, "hold"))) await new Promise((resolve) => setTimeout(resolve, 20));
  writeFileSync("work.txt", "fine\\n");
}
const outputs = { enrich: "spec.md", validation: "validation.md", docs: "docs.md" };
if (outputs[phase]) writeFileSync(join(process.env.CRUNCH_OUTPUT, outputs[phase]), "# " + phase + "\\n");
writeFileSync(process.env.CRUNCH_RESULT, JSON.stringify({ summary: "Did " + phase + "." }));
`;

beforeEach(async () => {
  const agent = join(checkout.temp, "agent.mjs");
  writeFileSync(agent, agentScript(checkout.temp));
  writeFileSync(join(checkout.temp, "issue.md"), issueText);
  const agents = JSON.stringify({ scripted: { command: [process.execPath, agent] } });
  await checkout.write({
    ".github/crunch.yml": `agents: ${agents}\n${scriptedConfig}`,
    "check.mjs": `import "node:fs";\n`,
    "README.md": "# Durations\n",
  });
  checkout.commitAll();
  // What a person is in the middle of.
  await checkout.write({ "README.md": "half an edit\n", "scratch.txt": "mine\n" });
  checkout.git("add", "scratch.txt");
});

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

interface Started {
  readonly ended: Promise<Ended>;
  kill(signal: "SIGINT" | "SIGKILL"): void;
}

function start(...words: readonly string[]): Started {
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn(process.execPath, [cli, "run", "1", ...words], { cwd: checkout.root, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  return {
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, output }))),
    kill: (signal) => void child.kill(signal),
  };
}

const run = (...words: readonly string[]): Promise<Ended> => start(...words).ended;
const runNew = () => run("--issue-file", join(checkout.temp, "issue.md"));

async function chain(): Promise<readonly Checkpoint[]> {
  const verified = await verifyChain(createFileStore(checkout.root), 1);
  expect(verified.problems).toEqual([]);
  const { index, checkpoints } = verified.chain;
  return index.flatMap(({ checkpoint_id: id }) => checkpoints.get(id) ?? []);
}

interface Entry {
  readonly phase: string;
  readonly attempt: number;
  readonly half: string | null;
  readonly notes: string | null;
}

function journal(): readonly Entry[] {
  const lines = readFileSync(join(checkout.temp, "journal"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** A run that is in the middle of `implementing`. */
async function startedHalfway(): Promise<Started> {
  writeFileSync(join(checkout.temp, "hold"), "");
  const started = start("--issue-file", join(checkout.temp, "issue.md"));
  const deadline = Date.now() + 20_000;
  while (!existsSync(join(checkout.temp, "halfway"))) {
    if (Date.now() > deadline) throw new Error(`it did not get halfway: ${(await started.ended).output}`);
    await sleep(20);
  }
  return started;
}

const release = () => rmSync(join(checkout.temp, "hold"));

/** The person's files, index and branch: all but the folder of the issues, where Crunch writes. */
function theirs() {
  const isOurs = (name: string) => name === ".claude" || name.startsWith(".claude/");
  const files = Object.entries(belongings(checkout.root)).filter(([name]) => !isOurs(name));
  return { files, branch: checkout.git("branch", "--show-current"), main: checkout.git("rev-parse", "main") };
}

describe("crunch run in a plain checkout", () => {
  it("takes an issue to done and leaves the person's files, index and branch alone", async () => {
    const before = theirs();
    const { code, output } = await runNew();
    expect([code, output]).toEqual([0, expect.stringContaining("Crunch is done")]);
    expect(output).toContain(`git diff main...${branch}`);
    expect(ended(await chain())).toEqual(agentPhases.map((phase) => `${phase} 1`));
    expect(checkout.git("diff", "--name-only", "main", branch).split("\n")).toEqual(["half.txt", "work.txt"]);
    expect(readFileSync(join(checkout.root, ".claude/crunch/1/issue.md"), "utf8")).toContain("state:done");
    expect(readFileSync(join(checkout.root, ".claude/crunch/1/spec.md"), "utf8")).toBe("# enrich\n");
    expect(theirs()).toEqual(before);
    const again = await run();
    expect([again.code, again.output]).toEqual([0, expect.stringContaining("Crunch is done")]);
    expect(journal()).toHaveLength(agentPhases.length);
  });

  it("saves the unfinished work at Ctrl+C, exits with 130, and goes on at the next start", async () => {
    const before = theirs();
    const first = await startedHalfway();
    first.kill("SIGINT");
    const { code, output } = await first.ended;
    expect([code, output]).toEqual([130, expect.stringContaining("go on: crunch run 1")]);
    const saved = latestOf(await chain());
    expect(saved).toMatchObject({ trigger: "user_interrupt", outcome: "interrupted", lease: null });
    expect(saved.partial_work.map(({ path }) => path)).toEqual(["half.txt"]);
    expect(theirs()).toEqual(before);
    release();
    expect(await run()).toMatchObject({ code: 0, output: expect.stringContaining("Crunch is done") });
    expect(journal().map(({ phase, attempt, half }) => `${phase} ${attempt} ${half?.trim()}`)).toEqual([
      ...["enrich 1 undefined", "implementing 1 undefined", "implementing 2 half"],
      ...["validation 1 half", "docs 1 half"],
    ]);
    expect(journal()[2]?.notes).toContain("- implementing");
    expect(theirs()).toEqual(before);
  });

  it("goes on after SIGKILL with the phase that was running, and only that", async () => {
    const before = theirs();
    const first = await startedHalfway();
    first.kill("SIGKILL");
    await first.ended;
    release();
    expect(await run()).toMatchObject({ code: 0, output: expect.stringContaining("Crunch is done") });
    expect(journal().map(({ phase, attempt }) => `${phase} ${attempt}`)).toEqual([
      ...["enrich 1", "implementing 1", "implementing 2", "validation 1", "docs 1"],
    ]);
    expect(ended(await chain())).toEqual(agentPhases.map((phase) => `${phase} 1`));
    expect(theirs()).toEqual(before);
  });

  it("answers status, diff and a dry run, and changes nothing by them", async () => {
    await runNew();
    const checkpoints = await chain();
    const specified = newest(checkpoints, "enrich", "phase_transition").checkpoint_id;
    const last = latestOf(checkpoints).checkpoint_id;
    const before = chainFiles();
    const status = await run("status");
    expect(status).toMatchObject({ code: 0, output: expect.stringContaining(last) });
    const diff = await run("diff", specified);
    expect(diff.code).toBe(0);
    expect(diff.output).toMatch(/docs succeeded/);
    expect(diff.output).toContain(specified);
    const preview = await run("resume", specified, "--dry-run");
    expect(preview.code, preview.output).toBe(0);
    expect(preview.output).toMatch(
      new RegExp(`resume from \`${specified}\` would restore[^]*nothing was changed`),
    );
    expect(chainFiles()).toEqual(before);
    // What would be a comment on GitHub is a command here.
    expect(status.output + preview.output).not.toContain("`/crunch");
  });

  it("rolls state, outputs and code back, waits, and goes on with resume", async () => {
    const person = theirs();
    await runNew();
    const target = newest(await chain(), "implementing", "phase_start");
    const head = checkout.git("rev-parse", branch);
    const rolledBack = await run("rollback", target.checkpoint_id);
    expect(rolledBack.code, rolledBack.output).toBe(0);
    expect(rolledBack.output).toContain("`crunch run 1 resume`: go on from here");
    expect(latestOf(await chain()).parent_checkpoint_id).toBe(target.checkpoint_id);
    expect(checkout.git("rev-parse", `${branch}^`)).toBe(head);
    expect(checkout.git("rev-parse", `${branch}^{tree}`)).toBe(checkout.git("rev-parse", "main^{tree}"));
    expect(existsSync(join(checkout.root, ".claude/crunch/1/docs.md"))).toBe(false);
    expect(existsSync(join(checkout.root, ".claude/crunch/1/spec.md"))).toBe(true);
    expect(journal()).toHaveLength(agentPhases.length);
    expect(await run("resume")).toMatchObject({ code: 0, output: expect.stringContaining("Crunch is done") });
    expect(ended(await chain()).slice(4)).toEqual(["implementing 2", "validation 2", "docs 2"]);
    expect(theirs()).toEqual(person);
  });

  it("says what is wrong with a wish, and exits with 1", async () => {
    const missing = await run();
    expect(missing).toMatchObject({ code: 1, output: expect.stringContaining("--issue-file") });
    await runNew();
    for (const words of [
      ["rollback", "CP-enrich-20200101-dead"],
      ["diff", "CP-enrich-20200101-dead"],
      ["rollback", "../../.github/workflows/x"],
      ["resume", "--hurry"],
      ["deploy"],
    ]) {
      const { code, output } = await run(...words);
      expect([code, words, output]).toEqual([
        1,
        words,
        expect.stringMatching(/no checkpoint|not a checkpoint id|no option|no command/),
      ]);
    }
    expect(journal()).toHaveLength(agentPhases.length);
  });
});

function chainFiles(): string[] {
  return readdirSync(join(checkout.root, ".claude/crunch/1/checkpoints")).sort();
}

it("crunch start --once --kill shows what was kept and what was done again", {
  timeout: 60_000,
}, async () => {
  const args = [cli, "start", "--once", "--pace", "40", "--kill", "implementing"];
  const env = { ...process.env, NO_COLOR: "1" };
  const { code, output } = await new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, args, { env, timeout: 50_000 }, (_, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
  expect([code, output]).toEqual([0, expect.stringMatching(/done again +implementing \(attempt 2\)/)]);
  expect(output).toMatch(/done once +enrich, ready, validation, docs/);
  expect(output).toMatch(/\d+ checkpoints, every parent and hash verified/);
});
