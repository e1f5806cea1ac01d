import type { FileChange, Workspace } from "../ports.js";

type Redact = (text: string) => string;

/** Where an agent has put a secret into the repo's own files; null when it has not. */
export interface SecretFound {
  /** The path, itself without secrets. */
  readonly path: string;
  readonly line: number | null;
}

/**
 * Code is never rewritten: a program with a part blacked out is another program, and the gates would have judged a
 * third. So a secret in it fails the phase. What was in a file before is not the agent's doing.
 */
export async function secretInCode(
  code: readonly FileChange[],
  workspace: Workspace,
  redact: Redact,
): Promise<SecretFound | null> {
  for (const { path, content } of code) {
    if (redact(path) !== path) return { path: redact(path), line: null };
    if (content === null || !holdsSecret(content, redact)) continue;
    const before = await workspace.contentBefore(path);
    const line = addedSecret(textOf(content), before && textOf(before), redact);
    if (line !== "none") return { path, line };
  }
  return null;
}

export function holdsSecret(content: Buffer, redact: Redact): boolean {
  const text = textOf(content);
  return redact(text) !== text;
}

/** The line that adds a secret; null when it is spread over several, `none` when all of it was there before. */
function addedSecret(text: string, before: string | null, redact: Redact): number | null | "none" {
  const known = new Set(before?.split("\n"));
  const at = text.split("\n").findIndex((line) => !known.has(line) && redact(line) !== line);
  if (at !== -1) return at + 1;
  return before !== null && redact(before) !== before ? "none" : null;
}

/** Bytes that are no text are searched as well: each as a character of its own. */
function textOf(content: Buffer): string {
  return content.includes(0) ? content.toString("latin1") : content.toString("utf8");
}

/** An output or note without secrets. They are for reading, so a part blacked out does no harm; a binary is refused. */
export function withoutSecrets(file: FileChange, redact: Redact): FileChange | null {
  const { content } = file;
  if (redact(file.path) !== file.path) return null;
  if (content === null || !holdsSecret(content, redact)) return file;
  return content.includes(0) ? null : { ...file, content: Buffer.from(redact(content.toString("utf8"))) };
}
