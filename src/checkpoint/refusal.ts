import { CrunchError } from "../errors.js";

export function invalidCheckpoint(reason: string, cause?: unknown): CrunchError {
  return new CrunchError({
    code: "checkpoint_invalid",
    message: `The checkpoint is not valid: ${printable(reason, 300)}.`,
    hint: "Continue from an earlier checkpoint with `/crunch rollback`.",
    cause,
  });
}

/** Where the first thing is that a schema refuses, and why. */
export function firstIssue(error: {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}): string {
  const issue = error.issues[0];
  if (issue === undefined) return "unknown reason";
  const path = issue.path.map((part) => printable(String(part), 60)).join(".");
  return path === "" ? inWords(issue.message) : `${path}: ${inWords(issue.message)}`;
}

/** zod speaks to programmers. */
function inWords(message: string): string {
  return message
    .replace(/^Invalid input: expected .*, received undefined$/, "it is missing")
    .replace(/^Invalid input: (expected .*), received NaN$/, "$1, found no number")
    .replace(/^Invalid input: (expected .*), received /, "$1, found ")
    .replace(/^Invalid input: expected /, "expected ");
}

/**
 * Text of a file as part of a message. Keys and values of a forged file get into messages, and these into
 * terminals and comments: so they stay on one line, without control characters, and short.
 */
export function printable(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}
