import MarkdownIt, { type Token } from "markdown-it";

/** A heading of the notes with what is under it, also under the headings nested in it. */
export interface NotesSection {
  readonly title: string;
  /** Its lines of text, without what only holds a place. */
  readonly lines: readonly string[];
  readonly hasCode: boolean;
}

const parser = new MarkdownIt({ html: true });

export function sectionsOf(markdown: string): readonly NotesSection[] {
  const sections: { title: string; level: number; lines: string[]; hasCode: boolean }[] = [];
  let open: typeof sections = [];
  let isHeading = false;
  for (const token of parser.parse(markdown, {})) {
    // A heading inside a quote or a list is part of what is said there.
    if (token.level === 0 && token.type === "heading_open") {
      const level = Number(token.tag.slice(1));
      const section = { title: "", level, lines: [], hasCode: false };
      sections.push(section);
      open = [...open.filter((outer) => outer.level < level), section];
      isHeading = true;
    } else if (token.type === "heading_close") isHeading = false;
    else if (isHeading) for (const section of open.slice(-1)) section.title += oneLine(shownText(token));
    else if (token.type === "fence" || token.type === "code_block") {
      if (token.content.trim() !== "") for (const section of open) section.hasCode = true;
    } else for (const section of open) section.lines.push(...writtenLines(shownText(token)));
  }
  return sections;
}

/** Whether a text begins with these words, whatever their case. */
export function beginsWith(text: string, words: string): boolean {
  const [whole, start] = [oneLine(text).toLowerCase(), oneLine(words).toLowerCase()];
  return whole.startsWith(start) && !/^[\p{L}\p{N}]/u.test(whole.slice(start.length));
}

export interface NotesStatus {
  /** The step that is completed, in lower case. */
  readonly step: string | null;
  readonly verdict: "APPROVED" | "FINDINGS" | null;
}

/** What the notes say under `Status`. Where they say it again, the last one counts: notes are continued. */
export function notesStatus(markdown: string): NotesStatus {
  const lines = sectionsOf(markdown)
    .filter(({ title }) => beginsWith(title, "status"))
    .flatMap(({ lines }) => lines);
  const last = <T>(read: (line: string) => T | null): T | null =>
    lines.reduce<T | null>((found, line) => read(line) ?? found, null);
  return { step: last(stepIn), verdict: last(verdictIn) };
}

function stepIn(line: string): string | null {
  // No step is this long, and a long line of brackets would take these patterns long.
  const said = /^step completed\s*:(.{0,200})/i.exec(line)?.[1]?.replace(/\([^()]*\)\s*$/, "") ?? "";
  const step = said.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();
  return step === "" ? null : step;
}

/** The first word decides. A list of both, as in the template, is no verdict. */
function verdictIn(line: string): NotesStatus["verdict"] {
  const [, said] = /^verdict\b[^:]*:[\s*_`]*(approved|findings)\b(?!\s*[|/])/i.exec(line) ?? [];
  if (said === undefined) return null;
  return said.toLowerCase() === "approved" ? "APPROVED" : "FINDINGS";
}

/** The text of a block as a reader sees it, without HTML and so without its comments. */
function shownText({ type, content, children }: Token): string {
  if (type === "html_block") return content.replace(/<!--[\s\S]*?(?:-->|$)|<[^<>]*>/g, "");
  if (type !== "inline") return "";
  return (children ?? [])
    .map((child) => {
      if (child.type === "softbreak" || child.type === "hardbreak") return "\n";
      return child.type === "html_inline" ? "" : child.content;
    })
    .join("");
}

const placeholder = /\{[^{}]*\}/g;
const nothing = new Set(["todo", "tbd", "n/a"]);

/** The lines that somebody wrote: no placeholders, no labels of placeholders, no words for "still to come". */
function writtenLines(text: string): string[] {
  const marked = text.replace(placeholder, "\0");
  return marked.split("\n").flatMap((each) => {
    const line = oneLine(each.replaceAll("\0", ""));
    const isLabel = each.includes("\0") && line.endsWith(":");
    const bare = line.toLowerCase().replace(/[^\p{L}\p{N}/]/gu, "");
    const saysSomething = /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(line) && !nothing.has(bare);
    return saysSomething && !isLabel ? [line] : [];
  });
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
