import type { CheckpointDiff } from "../checkpoint/diff.js";
import { fenced, plain, shortened } from "../markdown.js";
import { rowsOf } from "./diff-rows.js";
import { sectionsOf } from "./diff-sections.js";
import { factsOf, headlineOf } from "./diff-story.js";
import {
  type Block,
  count,
  type Line,
  type Mark,
  type Piece,
  quoted,
  type Section,
  visible,
} from "./diff-view.js";

interface MarkdownOptions {
  /** Where a file of the folder can be looked at. */
  readonly fileUrl?: (path: string) => string;
}

/** A comment takes 65,536 characters; whoever posts this adds words of their own. */
const longest = 60_000;
const roomForNote = 200;
const mostItems = 20;

const marks: Readonly<Record<Mark, string>> = {
  good: "✅ ",
  bad: "❌ ",
  warn: "⚠️ ",
  none: "",
  added: "➕ ",
  removed: "➖ ",
  changed: "✏️ ",
};

/** A comparison as a comment: a sentence, a table, then what differs with long texts folded. */
export function renderDiffMarkdown(diff: CheckpointDiff, options: MarkdownOptions = {}): string {
  const print = printer(options);
  const { mark, line } = headlineOf(diff);
  const facts = factsOf(diff).map(print).join(" · ");
  const parts = [
    `### ${marks[mark]}${print(line)}`,
    facts === "" ? "" : `Since then: ${facts}.`,
    table(diff, print),
    ...sectionsOf(diff).flatMap((section) => sectionParts(section, print)),
  ];
  return fitting(parts.filter((part) => part !== ""));
}

/** Whole parts only: half of one could leave a fence or a fold open. */
function fitting(parts: readonly string[]): string {
  const shown: string[] = [];
  let room = longest - roomForNote;
  for (const part of parts) {
    if (part.length + 2 > room) continue;
    shown.push(part);
    room -= part.length + 2;
  }
  const left = parts.length - shown.length;
  const note = `_${count(left, "part was", "parts were")} left out here, because a comment has a limit: the checkpoints hold all of it._`;
  return [...shown, ...(left > 0 ? [note] : [])].join("\n\n");
}

function table(diff: CheckpointDiff, print: (line: Line) => string): string {
  const { older, newer } = diff;
  const heading = [older, newer].map(({ checkpoint_id: id }) =>
    print([{ name: id, file: `checkpoints/${id}.yaml` }]),
  );
  const rows = rowsOf(diff).map(
    ({ label, before, after }) => `| ${label} | ${print(before)} | ${print(after)} |`,
  );
  return [`| | ${heading.join(" | ")} |`, "|---|---|---|", ...rows].join("\n");
}

function sectionParts({ title, items, blocks }: Section, print: (line: Line) => string): string[] {
  const lines = items.slice(0, mostItems).map(({ mark, line }) => `- ${marks[mark]}${print(line)}`);
  if (items.length > mostItems) lines.push(`- … and ${items.length - mostItems} more`);
  return [[`**${plain(title)}**`, ...lines].join("\n"), ...blocks.map(folded)];
}

function folded({ title, text, language }: Block): string {
  const summary = title.map(html).join("");
  return `<details><summary>${summary}</summary>\n\n${fenced(visible(text), language)}\n</details>`;
}

function printer({ fileUrl }: MarkdownOptions): (line: Line) => string {
  const one = (piece: Piece): string => {
    if (typeof piece === "string") return piece;
    if ("quote" in piece) return plain(quoted(piece.quote, piece.most));
    const name = code(piece.name);
    return piece.file === undefined || !fileUrl ? name : `[${name}](${url(fileUrl(piece.file))})`;
  };
  return (line) => line.map(one).join("");
}

/** Only what can't end it stands in a code span. */
function code(name: string): string {
  const short = shortened(name, 200);
  return /^[\w./:+ -]+$/.test(short) && short.trim() === short ? `\`${short}\`` : plain(short);
}

/** A path with brackets or spaces would end the link early. */
function url(address: string): string {
  return address.replace(/[()<>\s\\]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** In a summary there is HTML and no Markdown. */
function html(piece: Piece): string {
  if (typeof piece === "string") return piece;
  const text = shortened("quote" in piece ? piece.quote : piece.name, 200);
  const safe = visible(text)
    .replace(/\s+/g, " ")
    .replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
    .replace(/@(?=\w)/g, "@\u200b");
  return "quote" in piece ? safe : `<code>${safe}</code>`;
}
