import { shortened } from "../markdown.js";

// A comparison in words, before it is known where it is shown: Markdown and the terminal print the same pieces, and
// each knows how to make text of others harmless.

/** Our own words, a name (of a phase, a gate, a file of the folder), or a text of others. */
export type Piece =
  | string
  | { readonly name: string; readonly file?: string }
  | { readonly quote: string; readonly most?: number };
export type Line = readonly Piece[];

/** One subject of both checkpoints, side by side. */
export interface Row {
  readonly label: string;
  readonly before: Line;
  readonly after: Line;
}

export type Mark = "good" | "bad" | "warn" | "none" | "added" | "removed" | "changed";

export interface Item {
  readonly mark: Mark;
  readonly line: Line;
}

/** Long text that is read only by those who want to. */
export interface Block {
  readonly title: Line;
  readonly text: string;
  readonly language: "diff" | "text";
}

export interface Section {
  readonly title: string;
  readonly items: readonly Item[];
  readonly blocks: readonly Block[];
}

export const nameOf = (name: string): Piece => ({ name });

/** `a`, `b` and `c`; of many only the first. */
export function listed(names: readonly string[], most = 4): Line {
  const shown = names.slice(0, most).map(nameOf);
  const last = names.length > most ? `${names.length - most} more` : shown.pop();
  if (last === undefined) return [];
  const first = shown.flatMap((name, at) => (at === 0 ? [name] : [", ", name]));
  return first.length === 0 ? [last] : [...first, " and ", last];
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${grouped(amount)} ${amount === 1 ? one : many}`;
}

export function grouped(amount: number): string {
  return amount.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

export function signed(amount: number): string {
  return `${amount < 0 ? "−" : "+"}${grouped(Math.abs(amount))}`;
}

/** The beginning of a text of others, on one line. */
export function quoted(text: string, most = 300): string {
  return shortened(text.replace(/\s+/g, " "), most);
}

/** Lines added and removed, as diffs count them. */
export function lineCount({ added, removed }: { readonly added: number; readonly removed: number }): string {
  return `+${grouped(added)} −${grouped(removed)} lines`;
}

/** Words with `code` in them, as Crunch itself writes its hints. */
export function withCode(text: string): Line {
  return text.split(/`([^`\n]{1,80})`/).map((part, at) => (at % 2 === 1 ? { name: part } : { quote: part }));
}

export function size(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`;
}

/** What would act on a terminal, turn text round or is half a character is shown as a mark instead. */
export function visible(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]|\p{Cs}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}
