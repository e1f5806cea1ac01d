import { stripVTControlCharacters } from "node:util";
import colors from "picocolors";
import type { CheckpointDiff } from "../checkpoint/diff.js";
import { rowsOf } from "./diff-rows.js";
import { sectionsOf } from "./diff-sections.js";
import { factsOf, headlineOf } from "./diff-story.js";
import { type Block, type Line, type Mark, type Piece, quoted, type Section, visible } from "./diff-view.js";
import { flowed, pieces, type Word } from "./flow.js";

type Colors = ReturnType<typeof colors.createColors>;

const narrowest = 40;
const mostItems = 50;

/** A comparison for a terminal. Nothing that agents or people wrote can act on the terminal. */
export function renderDiffText(
  diff: CheckpointDiff,
  options: { readonly color: boolean; readonly width: number },
): string {
  const paint = colors.createColors(options.color);
  const width = Math.max(narrowest, options.width);
  const words = (line: Line, style = plainly) => line.flatMap((piece) => wordsOf(piece, paint, style));
  const { older, newer } = diff;
  const { mark, line } = headlineOf(diff);
  const head = [
    ...flowed(words(line, paint.bold), { width, first: mark === "none" ? "" : `${markOf(mark, paint)} ` }),
    ...factsOf(diff).flatMap((fact) => flowed(words(fact), { width, first: "  · ", rest: "    " })),
  ];
  const ids = words([{ name: older.checkpoint_id }, " → ", { name: newer.checkpoint_id }]);
  const rows = rowsOf(diff).flatMap(({ label, before, after }) => {
    const first = `  ${paint.dim(label.padEnd(13))}`;
    return flowed(words([...before, " → ", ...after]), { width, first, rest: " ".repeat(15) });
  });
  const sections = sectionsOf(diff).map((section) => sectionLines(section, words, paint, width));
  return `${[head, [...flowed(ids, { width }), ...rows], ...sections].map((part) => part.join("\n")).join("\n\n")}\n`;
}

function sectionLines(
  { title, items, blocks }: Section,
  words: (line: Line) => readonly Word[],
  paint: Colors,
  width: number,
): string[] {
  const lines = items
    .slice(0, mostItems)
    .flatMap(({ mark, line }) =>
      flowed(words(line), { width, first: `  ${markOf(mark, paint)} `, rest: "    " }),
    );
  if (items.length > mostItems) lines.push(`    … and ${items.length - mostItems} more`);
  return [
    paint.bold(clean(title)),
    ...lines,
    ...blocks.flatMap((block) => blockLines(block, words, paint, width)),
  ];
}

function blockLines(
  { title, text, language }: Block,
  words: (line: Line) => readonly Word[],
  paint: Colors,
  width: number,
): string[] {
  const lines = clean(text, "\n").trimEnd().split("\n");
  const body = lines.flatMap((line) => {
    const style = language === "diff" ? diffStyle(line, paint) : paint.dim;
    return pieces(line.replaceAll("\t", "  "), width - 6).map(
      (part) => `    ${paint.dim("│")} ${style(part)}`,
    );
  });
  return [...flowed(words(title), { width, first: "    ", rest: "    " }), ...body];
}

function diffStyle(line: string, paint: Colors): (text: string) => string {
  if (line.startsWith("+")) return paint.green;
  if (line.startsWith("-")) return paint.red;
  return line.startsWith("@@") ? paint.cyan : plainly;
}

function wordsOf(piece: Piece, paint: Colors, style: (text: string) => string): readonly Word[] {
  if (typeof piece === "string") return [{ text: piece, style }];
  if ("quote" in piece) return [{ text: clean(quoted(piece.quote, piece.most)), style }];
  return [{ text: clean(piece.name), style: (text) => style(paint.cyan(text)) }];
}

function plainly(text: string): string {
  return text;
}

function clean(text: string, lineEnd = " "): string {
  return visible(stripVTControlCharacters(text)).replaceAll("\n", lineEnd);
}

function markOf(mark: Mark, paint: Colors): string {
  switch (mark) {
    case "good":
      return paint.green("✔");
    case "bad":
      return paint.red("✘");
    case "warn":
      return paint.yellow("!");
    case "none":
      return paint.dim("·");
    case "added":
      return paint.green("+");
    case "removed":
      return paint.red("-");
    case "changed":
      return paint.yellow("~");
  }
}
