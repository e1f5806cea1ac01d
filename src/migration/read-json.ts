import { isUtf8 } from "node:buffer";
import type { z } from "zod";
import { firstIssue, printable } from "../checkpoint/refusal.js";
import { messageOf } from "../errors.js";
import { importRefused } from "./refusal.js";

const maxJsonBytes = 8 * 1024 * 1024;
/** Well below what a checkpoint may nest, because what is read goes inside one. */
const maxDepth = 32;

/** A JSON file from outside, in the shape of the schema. Limits come first: recursion follows the nesting. */
export function readJson<T extends z.ZodType>(schema: T, bytes: Buffer): z.infer<T> {
  if (bytes.length > maxJsonBytes)
    throw refused(`it has ${bytes.length} bytes, more than the limit of ${maxJsonBytes}`);
  if (!isUtf8(bytes)) throw refused("it is not UTF-8 text");
  const text = bytes.toString("utf8").replace(/^\ufeff/, "");
  refuseDeep(text);
  const parsed = schema.safeParse(parse(text));
  if (!parsed.success) throw refused(printable(firstIssue(parsed.error), 300));
  return parsed.data;
}

function parse(text: string): unknown {
  try {
    refuseRepeatedKeys(text);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw refused(printable(`it is not JSON: ${messageOf(error)}`, 200));
    throw error;
  }
}

function refuseDeep(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at);
    else if (char === 0x5b || char === 0x7b) depth += 1;
    else if (char === 0x5d || char === 0x7d) depth -= 1;
    if (depth > maxDepth) throw refused(`values are nested more than ${maxDepth} levels deep`);
  }
}

/** JSON.parse lets the last of several equal keys win and drops the others without a word. */
function refuseRepeatedKeys(text: string): void {
  const seen: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "{" || char === "[") seen.push(new Set());
    else if (char === "}" || char === "]") seen.pop();
    else if (char === '"') {
      const end = endOfString(text, at);
      if (/^\s*:/.test(text.slice(end + 1, end + 100))) addKey(text.slice(at, end + 1), seen.at(-1));
      at = end;
    }
  }
}

function addKey(source: string, keys: Set<string> | undefined): void {
  const key: unknown = JSON.parse(source);
  if (typeof key !== "string" || keys === undefined) return;
  // As a key it sets the prototype in whatever copies the data.
  if (key === "__proto__") throw refused('the key "__proto__" is not allowed');
  if (keys.has(key)) throw refused(`the key "${printable(key, 60)}" appears twice`);
  keys.add(key);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at += 1;
    else if (char === 0x22) return at;
  }
  return text.length;
}

function refused(reason: string) {
  return importRefused(`${reason}.`, "Correct the file, or take it out of the folder, and import again.");
}
