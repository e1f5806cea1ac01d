import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import type { AgentProgress } from "../../ports.js";
import { beginningOf } from "../../whole-characters.js";
import { readPart } from "./contract-files.js";

const LIMIT = 1024 * 1024;
const LONGEST_MESSAGE = 2_000;
const POLL_MS = 250;

const ProgressLine = z.object({ message: z.string(), percent: z.number().nullish() });

export interface ProgressReport {
  readonly progress: readonly AgentProgress[];
  /** For a person: lines that were skipped, or that the limit cut off. */
  readonly remarks: readonly string[];
}

/** Follows the progress file while the agent works. `finish` reads the rest of it. */
export function followProgressFile(
  path: string,
  clean: (text: string) => string,
  onProgress: (progress: AgentProgress) => void,
): { finish(): Promise<ProgressReport> } {
  const progress: AgentProgress[] = [];
  const decoder = new StringDecoder("utf8");
  let position = 0;
  let rest = "";
  let skipped = 0;
  let isCut = false;

  const take = (line: string) => {
    if (line.trim() === "") return;
    const step = parseLine(line, clean);
    if (step === null) {
      skipped++;
      return;
    }
    progress.push(step);
    try {
      onProgress(step);
    } catch {
      // A display that fails must not cost the agent's work.
    }
  };
  const read = async () => {
    const part = await readPart(path, position, LIMIT - position);
    if (part === null) return;
    isCut = part.size > LIMIT;
    position += part.bytes.length;
    const lines = (rest + decoder.write(part.bytes)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  };

  let reading = Promise.resolve();
  // One read at a time: two would take the same bytes.
  const poll = () => {
    reading = reading.then(read).catch(() => {});
  };
  const timer = setInterval(poll, POLL_MS);

  return {
    async finish() {
      clearInterval(timer);
      poll();
      await reading;
      // A last line without its line break counts, unless the limit cut it.
      if (!isCut) take(rest);
      const remarks = [
        ...(skipped > 0 ? [`${skipped} malformed progress lines were skipped`] : []),
        ...(isCut ? [`the progress file was read up to its limit of ${LIMIT} bytes`] : []),
      ];
      return { progress, remarks };
    },
  };
}

function parseLine(line: string, clean: (text: string) => string): AgentProgress | null {
  try {
    const { message, percent } = ProgressLine.parse(JSON.parse(line));
    return {
      at: new Date().toISOString(),
      message: beginningOf(clean(message), LONGEST_MESSAGE),
      percent: percent == null ? null : Math.min(100, Math.max(0, percent)),
    };
  } catch {
    return null;
  }
}
