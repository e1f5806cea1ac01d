import { fenced } from "../markdown.js";
import type { Gate } from "./gate.js";

/** Passes when a command exits with 0 in the workspace. */
export function commandGate(options: {
  readonly name: string;
  readonly phase: string;
  readonly command: readonly string[];
  readonly timeoutMs: number;
}): Gate {
  return {
    name: options.name,
    type: "command",
    phase: options.phase,
    timeoutMs: options.timeoutMs,
    async evaluate(context) {
      const result = await context.commands.run({
        argv: options.command,
        directory: context.directory,
        timeoutMs: options.timeoutMs,
        signal: context.signal,
      });
      const shown = options.command
        .map((word) => (/^[\w./:=@-]+$/.test(word) ? word : JSON.stringify(word)))
        .join(" ");
      const passed = result.status === "exited" && result.exitCode === 0;
      return {
        status: passed ? "passed" : "failed",
        summary: `${shown}: ${howItEnded(result.status, result.exitCode)}`,
        details: `\`${shown}\` ${howItEnded(result.status, result.exitCode)} after ${result.durationMs} ms.\n\n${result.output.trim() === "" ? "It printed nothing." : fenced(result.output)}`,
      };
    },
  };
}

function howItEnded(status: string, exitCode: number | null): string {
  if (status === "timed_out") return "ran into its time limit";
  if (status === "not_started") return "could not be started";
  if (status === "interrupted") return "was interrupted";
  return `exit code ${exitCode}`;
}
