import { stripVTControlCharacters } from "node:util";
import colors from "picocolors";
import type { Log } from "../ports.js";
import type { LogLine } from "./log.js";

const marks = {
  phase_started: colors.cyan("▶"),
  checkpoint: colors.magenta("◆"),
  progress: colors.dim("·"),
  passed: colors.green("✔"),
  failed: colors.red("✘"),
  person: colors.yellow("☺"),
  warning: colors.yellow("!"),
} as const;

/** How a phase may end. */
const endMarks: Readonly<Record<string, string>> = { succeeded: marks.passed, skipped: marks.progress };

export interface Terminal {
  say(text?: string): void;
  /** A line with the time since the start. */
  at(mark: string, text: string): void;
  person(text: string): void;
  warn(text: string): void;
  /** A line of the log; `note` is added where a phase ends. */
  log(line: LogLine, note?: string): void;
}

/** Shows live what happens. Colours are left out by themselves where the output is no terminal. */
export function createTerminal(write: (text: string) => void): Terminal {
  const began = Date.now();
  const say = (text = "") => write(`${text}\n`);
  const at = (mark: string, text: string) => {
    const seconds = ((Date.now() - began) / 1000).toFixed(1).padStart(6);
    say(`${colors.dim(`${seconds}s`)}  ${mark} ${text}`);
  };

  function log(line: LogLine, note = ""): void {
    const text = stripVTControlCharacters(line.message);
    const added = note === "" ? "" : ` ${colors.dim(`· ${note}`)}`;
    if (line.level !== "info") at(marks.warning, colors.yellow(text));
    else info(line, text, added);
  }

  function info(line: LogLine, text: string, added: string): void {
    switch (line.event) {
      case "phase_started":
        at(
          marks.phase_started,
          `${colors.bold(String(line.phase))}${attemptText(line.attempt)} ${colors.dim(String(line.id))}`,
        );
        break;
      case "progress":
        at(
          marks.progress,
          colors.dim(`  ${text}${typeof line.percent === "number" ? ` (${line.percent} %)` : ""}`),
        );
        break;
      case "gate":
        at(line.status === "passed" ? marks.passed : marks.failed, `  ${text}`);
        break;
      case "checkpoint":
        // The claim of a phase is shown with its beginning.
        if (line.trigger !== "phase_start")
          at(marks.checkpoint, `  ${line.id} ${colors.dim(`${line.type} ${line.trigger}`)}`);
        break;
      case "phase_ended": {
        const outcome = String(line.outcome);
        const mark = endMarks[outcome] ?? marks.failed;
        at(mark, `${colors.bold(text)}${added}`);
        break;
      }
      case "handled":
        if (line.status !== "ignored") at(marks.progress, `${text}${added}`);
        break;
    }
  }

  return {
    say,
    at,
    log,
    person: (text) => at(marks.person, text),
    warn: (text) => at(marks.warning, text),
  };
}

function attemptText(attempt: unknown): string {
  return typeof attempt === "number" && attempt > 1 ? colors.yellow(` (attempt ${attempt})`) : "";
}

/** A log that is shown live. */
export function terminalLog(terminal: Terminal): Log {
  const write =
    (level: LogLine["level"]) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      terminal.log({ ...fields, level, message } as LogLine);
  return { info: write("info"), warn: write("warn"), error: write("error") };
}
