import { printable } from "../checkpoint/refusal.js";
import { CrunchError, messageOf } from "../errors.js";

export function importRefused(message: string, hint: string, cause?: unknown): CrunchError {
  return new CrunchError({ code: "import_refused", message, hint, cause });
}

/** A name or a path from outside, to be read by a person. */
export function quoted(text: string): string {
  return `"${printable(text, 120)}"`;
}

/** What went wrong with one file, which the others need not suffer for. Anything unforeseen is not caught. */
export function attempt<T>(path: string, problems: string[], read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    problems.push(`${quoted(path)} was left out: ${messageOf(error).replace(/\.$/, "")}`);
    return null;
  }
}
