import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { splitLines } from "../../adapters/process/line-splitter.js";
import { CrunchError } from "../../errors.js";
import { LogLine } from "../log.js";

export interface BotProcess {
  readonly pid: number;
  readonly url: string;
  kill(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Runs `crunch bot` as a process of its own, which can die without taking the embedded GitHub with it. */
export async function startBotProcess(options: {
  readonly env: Readonly<Record<string, string>>;
  readonly onLine: (line: LogLine) => void;
  /** The process ended although nobody here asked it to. */
  readonly onDeath: (how: string) => void;
}): Promise<BotProcess> {
  const cli = fileURLToPath(new URL("../cli.js", import.meta.url));
  const env = { ...process.env, ...options.env, CRUNCH_LOG: "json", PORT: "0", HOST: "127.0.0.1" };
  const child = spawn(process.execPath, [cli, "bot"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let isStopping = false;
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4000);
  });
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
    child.once("error", (error) => resolve(error.message));
  });
  const url = await new Promise<string>((resolve, reject) => {
    splitLines(child.stdout, (text) => {
      const line = readLine(text);
      if (line?.event === "listening" && typeof line.url === "string") resolve(line.url);
      if (line) options.onLine(line);
    });
    void exited.then((how) => reject(notStarted(how, errors)));
  });
  void exited.then((how) => {
    if (!isStopping) options.onDeath(`${how}${errors === "" ? "" : `\n${errors}`}`);
  });
  return {
    pid: child.pid ?? 0,
    url,
    async kill(signal) {
      isStopping = true;
      await stop(child, signal, exited);
    },
  };
}

async function stop(
  child: ChildProcess,
  signal: "SIGTERM" | "SIGKILL",
  exited: Promise<unknown>,
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  await exited;
}

function readLine(text: string): LogLine | null {
  try {
    const parsed = LogLine.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function notStarted(how: string, errors: string): CrunchError {
  return new CrunchError({
    code: "bot_not_started",
    message: `The bot did not start (${how}). ${errors.trim()}`,
    hint: "Run `npm ci` and try again; CRUNCH_DEBUG=1 shows where it failed.",
  });
}
