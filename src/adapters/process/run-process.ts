import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { messageOf } from "../../errors.js";
import type { CommandResult } from "../../ports.js";
import { splitLines } from "./line-splitter.js";
import { createOutputTail } from "./output-tail.js";

export interface ProcessOptions {
  /** The program and its arguments. No shell reads them. */
  readonly argv: readonly string[];
  readonly directory: string;
  /** All the child sees: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  /** Between the polite signal and the one that can't be ignored. */
  readonly graceMs?: number;
  /** Gets each printed line as it is: not redacted, very long lines in pieces. */
  readonly onLine?: (line: string) => void;
}

export interface ProcessResult extends CommandResult {
  /** The signal that ended it, if one did. */
  readonly killedBy: NodeJS.Signals | null;
  /** More was printed than `output` holds. */
  readonly truncated: boolean;
}

type Ending = Pick<ProcessResult, "status" | "exitCode" | "killedBy">;

const DEFAULT_GRACE_MS = 2_000;
/** For what still sits in the pipes once the process is gone. */
const DRAIN_MS = 250;
/** Node fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs a command in a process group of its own, and leaves nothing of that group behind. */
export async function runProcess(options: ProcessOptions): Promise<ProcessResult> {
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  const withoutRun = (status: "not_started" | "interrupted", output: string): ProcessResult => ({
    status,
    exitCode: null,
    killedBy: null,
    output: options.redact(output),
    truncated: false,
    durationMs: durationMs(),
  });

  if (options.signal.aborted) return withoutRun("interrupted", "");
  const started = await start(options);
  if (typeof started === "string") return withoutRun("not_started", started);

  const tail = createOutputTail(options.redact);
  for (const stream of [started.stdout, started.stderr]) {
    stream?.on("data", (chunk: Buffer) => tail.append(chunk));
    if (stream && options.onLine) splitLines(stream, options.onLine);
  }
  const ending = await superviseUntilGone(started, options);
  return { ...ending, ...tail.finish(), durationMs: durationMs() };
}

/** The running child, or the reason why there is none. */
async function start({ argv, directory, env, input }: ProcessOptions): Promise<ChildProcess | string> {
  const [program, ...args] = argv;
  if (program === undefined || program === "") return "The command is empty: there is nothing to run.";
  try {
    const child = spawn(program, args, { cwd: directory, env: { ...env }, detached: true, shell: false });
    // A child may leave without reading its input; that is its choice.
    child.stdin.on("error", () => {});
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    child.on("error", () => {});
    child.stdin.end(input ?? "");
    return child;
  } catch (error) {
    return whyNotStarted(error, program, directory);
  }
}

function whyNotStarted(error: unknown, program: string, directory: string): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  // Node reports a missing folder as if the program were missing.
  if (code === "ENOENT" && !existsSync(directory)) {
    return `The command \`${program}\` could not start: its folder does not exist.`;
  }
  if (code === "ENOENT") return `The command \`${program}\` was not found. Is it installed and on the PATH?`;
  if (code === "EACCES") return `The command \`${program}\` may not be executed. Is its executable bit set?`;
  return `The command \`${program}\` could not start: ${messageOf(error)}`;
}

function superviseUntilGone(child: ChildProcess, options: ProcessOptions): Promise<Ending> {
  return new Promise((resolve) => {
    let status: ProcessResult["status"] = "exited";
    let forceTimer: NodeJS.Timeout | undefined;

    const stop = (reason: "timed_out" | "interrupted") => {
      if (status !== "exited") return;
      status = reason;
      signalGroup(child, "SIGTERM");
      forceTimer = setTimeout(() => signalGroup(child, "SIGKILL"), options.graceMs ?? DEFAULT_GRACE_MS);
    };
    const onAbort = () => stop("interrupted");
    // The group is detached: without this it would outlive a Crunch that exits early.
    const onOwnExit = () => signalGroup(child, "SIGKILL");

    const limit = setTimeout(() => stop("timed_out"), Math.min(options.timeoutMs, LONGEST_TIMER_MS));
    options.signal.addEventListener("abort", onAbort, { once: true });
    process.once("exit", onOwnExit);

    child.once("exit", (exitCode, killedBy) => {
      clearTimeout(limit);
      clearTimeout(forceTimer);
      options.signal.removeEventListener("abort", onAbort);
      process.off("exit", onOwnExit);
      signalGroup(child, "SIGKILL");
      drain(child).then(() => resolve({ status, exitCode, killedBy }));
    });
  });
}

/** "close" may never come: a grandchild that left the group can hold the pipes for ever. */
function drain(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
      resolve();
    };
    // The immediate lets one more read happen when the event loop was busy until now.
    const timer = setTimeout(() => setImmediate(done), DRAIN_MS);
    child.once("close", done);
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: the whole group is gone, which is what was wanted.
  }
}
