import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CrunchError } from "../../errors.js";
import { endOf } from "../../whole-characters.js";

export interface ToolOptions {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Buffer | Readable;
  /** Besides 0, for tools that answer with their exit code. */
  readonly toleratedExit?: number;
}

/** Runs a tool that Crunch itself relies on (git, tar) and returns all it printed; throws when it fails. */
export async function runTool(argv: readonly [string, ...string[]], options: ToolOptions): Promise<Buffer> {
  const [program, ...args] = argv;
  const child = spawn(program, args, { cwd: options.directory, env: { ...options.env } });
  const output: Buffer[] = [];
  let complaints = "";
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    complaints = endOf(complaints + chunk.toString("utf8"), 2_000);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  const [exit, fed] = await Promise.allSettled([ended, feed(child.stdin, options.input)]);
  const isFine = exit.status === "fulfilled" && (exit.value === 0 || exit.value === options.toleratedExit);
  if (isFine && fed.status === "fulfilled") return Buffer.concat(output);
  const cause = exit.status === "rejected" ? exit.reason : fed.status === "rejected" ? fed.reason : undefined;
  throw new CrunchError({
    code: "tool_failed",
    message: `\`${program} ${args.find((arg) => !arg.startsWith("-")) ?? ""}\` failed: ${complaints.trim() || String(cause)}`,
    hint: `Check that \`${program}\` is installed, that the disk is not full, then run the phase again.`,
    cause,
  });
}

async function feed(stdin: NodeJS.WritableStream, input: Buffer | Readable | undefined): Promise<void> {
  if (input === undefined || Buffer.isBuffer(input)) {
    // A tool that fails early closes its input; its exit code tells more than the broken pipe.
    stdin.on("error", () => {});
    stdin.end(input ?? "");
    return;
  }
  await pipeline(input, stdin);
}
