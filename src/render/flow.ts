import { stripVTControlCharacters } from "node:util";

/** Text and how it is painted; painting takes no room. */
export interface Word {
  readonly text: string;
  readonly style: (text: string) => string;
}

/** Fills lines of a width with words, a style at a time, and indents all but the first alike. */
export function flowed(
  words: readonly Word[],
  options: { readonly width: number; readonly first?: string; readonly rest?: string },
): string[] {
  const { width, first = "", rest = "" } = options;
  const lines: string[] = [];
  let line = first;
  let used = lengthOf(stripVTControlCharacters(first));
  const indent = lengthOf(rest);
  let isEmpty = true;
  const put = (text: string, style: Word["style"]) => {
    line += style(text);
    used += lengthOf(text);
    isEmpty = false;
  };
  const breakLine = () => {
    lines.push(line.trimEnd());
    line = rest;
    used = indent;
    isEmpty = true;
  };
  for (const { text, style } of words) {
    // A space belongs to the word before it, so that a line never begins with one.
    for (const word of text.match(/\s*\S+|\s+$/g) ?? []) {
      const bare = word.trimStart();
      if (!isEmpty && used + lengthOf(word) > width && bare !== word) breakLine();
      for (const part of pieces(isEmpty ? bare : word, Math.max(10, width - indent))) {
        if (!isEmpty && used + lengthOf(part) > width && lengthOf(part) > 1) breakLine();
        put(part, style);
      }
    }
  }
  if (!isEmpty || lines.length === 0) lines.push(line.trimEnd());
  return lines;
}

/** A text in parts that each fit a line; an empty text is one empty part. */
export function pieces(text: string, width: number): string[] {
  const characters = [...text];
  if (characters.length <= width) return [text];
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at += width) parts.push(characters.slice(at, at + width).join(""));
  return parts;
}

function lengthOf(text: string): number {
  return [...text].length;
}
