import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A line without an end must not fill the memory. */
const LONGEST_LINE = 64 * 1024;

/** Calls `onLine` for each line of the stream, also for a last one without a line break. */
export function splitLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    if (rest.length > LONGEST_LINE) {
      onLine(rest);
      rest = "";
    }
  });
  stream.once("close", () => {
    if (rest !== "") onLine(rest);
  });
}
