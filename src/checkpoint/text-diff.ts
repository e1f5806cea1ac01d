import { structuredPatch } from "diff";

/** What changed between two texts, as a unified diff that is short enough to show. */
export interface TextDiff {
  /** Lines, counted before anything was cut. */
  readonly added: number;
  readonly removed: number;
  readonly unified: string;
  readonly isCut: boolean;
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

const mostLines = 200;
const mostCharacters = 20_000;
const longestLine = 2_000;
const context = 3;
/** The search costs the square of this, whatever the texts are: 500 takes about 20 ms. */
const mostEdits = 500;
/** From here on even reading the lines into a search is not worth it. */
const longestSearched = 1_000_000;

/** Null when nothing changed but line ends and white space at the end of lines. */
export function textDiff(before: string, after: string): TextDiff | null {
  const [old, now] = [normalized(before), normalized(after)];
  if (old === now) return null;
  const hunks = searched(old, now) ?? [replaced(linesOf(old), linesOf(now))];
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
    ...written(hunks),
  };
}

/** The text with `\n` as line ends and nothing but words at the end of a line. Linear, unlike a regular expression. */
export function normalized(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trimEnd());
  return lines.join("\n").trimEnd();
}

function searched(before: string, after: string): readonly Hunk[] | null {
  if (before.length + after.length > longestSearched) return null;
  const options = { context, maxEditLength: mostEdits };
  // Texts end with a line end here, so that no line says that it has none.
  const [old, now] = [before, after].map((text) => (text === "" ? "" : `${text}\n`));
  return structuredPatch("", "", old ?? "", now ?? "", "", "", options)?.hunks ?? null;
}

/** Texts that have too little in common to look for it: all between the same beginning and the same end. */
function replaced(old: readonly string[], now: readonly string[]): Hunk {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const from = Math.max(0, start - context);
  const tail = Math.max(0, end - context);
  return {
    oldStart: from + 1,
    oldLines: old.length - tail - from,
    newStart: from + 1,
    newLines: now.length - tail - from,
    lines: [
      ...old.slice(from, start).map((line) => ` ${line}`),
      ...old.slice(start, old.length - end).map((line) => `-${line}`),
      ...now.slice(start, now.length - end).map((line) => `+${line}`),
      ...old.slice(old.length - end, old.length - tail).map((line) => ` ${line}`),
    ],
  };
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}

function written(hunks: readonly Hunk[]): Pick<TextDiff, "unified" | "isCut"> {
  const all = hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
  const shown: string[] = [];
  let characters = 0;
  let isCut = false;
  for (const [at, line] of all.slice(0, mostLines).entries()) {
    const cut = line.length <= longestLine ? line : aroundChange(line, counterpart(all, at));
    characters += cut.length + 1;
    if (characters > mostCharacters) break;
    if (cut !== line) isCut = true;
    shown.push(cut);
  }
  const left = all.length - shown.length;
  if (left > 0) shown.push(`… ${left} more ${left === 1 ? "line" : "lines"} not shown`);
  return { unified: shown.join("\n"), isCut: isCut || left > 0 };
}

/** The line that a removed one became, or an added one was: the same place in the other half of the change. */
function counterpart(lines: readonly string[], at: number): string {
  const sign = lines[at]?.[0];
  if (sign !== "-" && sign !== "+") return "";
  const other = sign === "-" ? "+" : "-";
  const step = sign === "-" ? 1 : -1;
  let edge = at;
  while (lines[edge]?.[0] === sign) edge += step;
  let first = at;
  while (lines[first - 1]?.[0] === sign) first--;
  let start = edge;
  if (step === -1) while (lines[start - 1]?.[0] === other) start--;
  const found = lines[start + (at - first)];
  return found?.[0] === other ? found : "";
}

/** A line too long to show: the part of it where the change begins. */
function aroundChange(line: string, other: string): string {
  let same = 1;
  while (same < line.length && line[same] === other[same]) same++;
  const from = Math.max(1, Math.min(same - 100, line.length - longestLine));
  const to = from + longestLine - 10;
  return `${line[0]}${from > 1 ? "…" : ""}${wholeCharacters(line, from, to)}${to < line.length ? "…" : ""}`;
}

/** A slice without halves of characters at its ends. */
function wholeCharacters(text: string, from: number, to: number): string {
  const isHalf = (at: number) => /[\udc00-\udfff]/.test(text[at] ?? "");
  return text.slice(isHalf(from) ? from + 1 : from, isHalf(to) ? to - 1 : to);
}
