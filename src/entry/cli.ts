#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { CrunchError, messageOf } from "../errors.js";

const program = new Command("crunch")
  .description("Makes long agent work on a GitHub issue durable.")
  .version(packageVersion());

interface StartFlags {
  readonly once: boolean;
  readonly port: number;
  readonly pace: number;
  readonly kill?: string;
  readonly workflow: "crunch" | "orchestrator" | "dev-loop";
}

program
  .command("start")
  .description("try Crunch: an embedded GitHub with a sample repo, the bot, and an agent that is a script")
  .option("--once", "exit when the sample issue is done: 0, or 1 with the reason", false)
  .option("--port <number>", "port of the embedded GitHub (default: any free one)", portNumber, 0)
  .option("--pace <ms>", "how long the sample agent rests between its steps", milliseconds, 120)
  .addOption(
    new Option("--workflow <name>", "the workflow to show")
      .choices(["crunch", "orchestrator", "dev-loop"])
      .default("crunch"),
  )
  .option("--kill <phase>", "kill the bot with SIGKILL in the middle of this phase, and watch it go on")
  .action(async (options: StartFlags) => {
    const { start } = await import("./start/start.js");
    const { once, port, pace: paceMs, kill: killIn = null, workflow } = options;
    process.exitCode = await start({ once, port, paceMs, killIn, workflow });
  });

program
  .command("bot")
  .description("run the bot; it is configured by environment variables, see docs/bot.md")
  .action(async () => {
    const { runBot } = await import("./bot-main.js");
    await runBot(process.env);
  });

program
  .command("run")
  .description(
    "work on an issue of this git checkout, with no GitHub; words are as after /crunch in a comment",
  )
  .argument("<issue>", "a number", issueNumber)
  .argument("[words...]", "status, resume, rollback <id>, diff <id> [id] … (nothing: start or go on)")
  .option("--issue-file <file>", "the issue's text in Markdown, for one that is new here")
  .option("--label <label>", "add a label to the issue, such as state:implementing to approve")
  .allowUnknownOption()
  .action(async (issue: number, words: string[], options: { issueFile?: string; label?: string }) => {
    const { runLocally } = await import("./local-run.js");
    const { issueFile = null, label = null } = options;
    process.exitCode = await runLocally({ directory: process.cwd(), issue, words, issueFile, label });
  });

const storageBranch = [
  "--storage-branch <name>",
  "where the checkpoints are",
  "crunch/issue-{issue}",
] as const;
const storageLocation = [
  "--storage-location <path>",
  "their folder",
  ".claude/crunch/{issue}/checkpoints",
] as const;
type Where = { readonly storageBranch: string; readonly storageLocation: string };
const issueName = "owner/repo#number with GITHUB_TOKEN, or a number for an issue of this checkout";

program
  .command("verify")
  .description("read an issue's checkpoints back and check every hash, parent and entry")
  .argument("<issue>", issueName)
  .option(...storageBranch)
  .option(...storageLocation)
  .action(async (name: string, options: Where) => {
    const [{ verify }, { chainOf }] = await Promise.all([import("./verify.js"), import("./chain-of.js")]);
    process.exitCode = await verify(await chainOf(name, options, process.env));
  });

program
  .command("migrate")
  .description("import a folder of older checkpoints: JSON of an orchestrator, progress files, plain YAML")
  .argument("<folder>", "the folder that holds them, such as .claude/checkpoints")
  .argument("<issue>", issueName)
  .option(...storageBranch)
  .option(...storageLocation)
  .option("--dry-run", "only tell what would be imported", false)
  .action(async (folder: string, name: string, options: Where & { dryRun: boolean }) => {
    const [{ migrate }, { chainOf }] = await Promise.all([import("./migrate.js"), import("./chain-of.js")]);
    const { dryRun } = options;
    process.exitCode = await migrate(folder, await chainOf(name, options, process.env), {
      dryRun,
    });
  });

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

function issueNumber(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError("Expected the number of an issue.");
  return Number(text);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

function milliseconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("Expected a number of milliseconds.");
  return Number(text);
}

// Whoever closes the pipe has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
try {
  await program.parseAsync();
} catch (error) {
  const hint = error instanceof CrunchError ? `\n${error.hint}` : "";
  console.error(`crunch: ${messageOf(error)}${hint}`);
  if (process.env.CRUNCH_DEBUG && error instanceof Error) console.error(error.stack);
  process.exitCode = 1;
}
