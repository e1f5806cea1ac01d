import { z } from "zod";
import type { Log } from "../ports.js";

/** One line of the log in JSON. */
export const LogLine = z.looseObject({
  level: z.enum(["info", "warn", "error"]),
  message: z.string(),
  event: z.string().optional(),
  issue: z.number().optional(),
  phase: z.string().optional(),
  status: z.string().optional(),
  kind: z.string().optional(),
});
export type LogLine = z.infer<typeof LogLine>;

/** Writes what happens to standard output: a line of text each, or of JSON for other programs to read. */
export function createLog(format: "text" | "json", redact: (text: string) => string): Log {
  const write =
    (level: "info" | "warn" | "error") =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      const time = new Date().toISOString();
      const line =
        format === "json"
          ? JSON.stringify({ time, level, message, ...fields })
          : textLine(time, level, message, fields);
      process.stdout.write(`${redact(line)}\n`);
    };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

function textLine(
  time: string,
  level: string,
  message: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  const details = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  // One line a message, whatever an agent put into it.
  return [time, level.padEnd(5), message, ...details].join(" ").replace(/[\r\n]+/g, " ⏎ ");
}
