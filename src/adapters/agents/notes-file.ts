import { readPart } from "./contract-files.js";

const LIMIT = 256 * 1024;

/** The agent's notes, or null when there are none. */
export async function readNotesFile(path: string): Promise<string | null> {
  const part = await readPart(path, 0, LIMIT);
  const text = part?.bytes.toString("utf8") ?? "";
  if (part === null || text.trim() === "") return null;
  if (part.size <= LIMIT) return text;
  return `${text.replace(/\ufffd$/, "")}\n\n_(Crunch cut the notes here: ${part.size} bytes, the limit is ${LIMIT}.)_\n`;
}
