import MarkdownIt from "markdown-it";

/**
 * Characters that show nothing: zero-width ones, marks that turn text round, the tag characters that spell out ASCII,
 * variation selectors. Whole sentences can hide in them.
 */
const invisible = /[\p{Default_Ignorable_Code_Point}\u{E0000}-\u{E0FFF}]/gu;

/** A line of text as a person sees it. */
export function visibleText(text: string): string {
  return text.replace(invisible, "");
}

/** Markdown without what nobody who looks at the issue sees: comments of HTML, and definitions of links. */
export function visibleMarkdown(markdown: string): string {
  const text = visibleText(markdown).replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  return withoutDefinitions(text);
}

const parser = new MarkdownIt({ html: true });
const shownAs = new Set([
  ...["inline", "heading_open", "fence", "code_block", "html_block", "hr", "table_open"],
]);

/**
 * Without lines like `[//]: # (…)`, which Markdown takes for definitions of links, whatever they say. Only a parser can
 * tell them from the same characters in a code block: they are the lines that nothing was made of.
 */
function withoutDefinitions(text: string): string {
  if (!text.includes("]:")) return text;
  const lines = text.split(/\r\n|\r|\n/);
  const shown = new Set<number>();
  for (const { type, map } of parser.parse(lines.join("\n"), {})) {
    if (!shownAs.has(type) || map === null) continue;
    for (let line = map[0]; line < map[1]; line++) shown.add(line);
  }
  const isShown = (line: string, index: number) => shown.has(index) || line.trim() === "";
  const seen = lines.filter(isShown).join("\n").toLowerCase();
  return lines
    .flatMap((line, index) => (isShown(line, index) ? line : (addressIn(line, seen) ?? [])))
    .join("\n");
}

/** A definition that a link uses keeps its address, which a reader can get at. Its title shows nowhere. */
function addressIn(line: string, seen: string): string | null {
  const [, label = "", address = ""] = /^ {0,3}\[([^\][]+)\]:\s*<?(https?:\/\/[^\s>]+)/i.exec(line) ?? [];
  const isUsed = label !== "" && seen.includes(`[${label.toLowerCase()}]`);
  return isUsed ? `[${label}]: ${address}` : null;
}
