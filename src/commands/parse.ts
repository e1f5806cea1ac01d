import type { Parsed } from "./command.js";
import { commands } from "./index.js";
import { printable } from "./words.js";

/**
 * Reads the command of a comment: its first line, when that begins with `/crunch`. A command in a quote, in a
 * code block or further down is talk about Crunch, not talk to it. Returns null when there is none.
 */
export function parseCommand(comment: string): Parsed | null {
  const firstLine = comment.split(/\r?\n/, 1)[0] ?? "";
  const match = /^\/crunch(?:[ \t]+(.*))?$/i.exec(firstLine.trimEnd());
  if (!match) return null;
  return parseArguments((match[1] ?? "").trim());
}

/** What follows `/crunch`; a dispatch gives just that. */
export function parseArguments(text: string): Parsed {
  const word = text.split(/\s/, 1)[0] ?? "";
  const definition = Object.values(commands).find((command) => command.words.includes(word));
  if (!definition) return { status: "unknown", problem: `there is no command \`${printable(word)}\`` };
  return definition.parse(text.slice(word.length));
}
