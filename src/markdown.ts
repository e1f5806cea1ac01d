/** Text of others, made harmless inside Markdown: no mentions, no references, no HTML, no markers of ours. */
export function plain(text: string): string {
  return inert(
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what breaks out of a line or turns it round
      .replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, " ")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replace(/([\\`*_[\]|~])/g, "\\$1"),
  );
}

/**
 * Text of others that does nothing on GitHub: it calls nobody (`@mona`), links to no issue (`#1`, `octo/app#1`,
 * `GH-1`), and closes none when it is merged, also not by an address (`Fixes https://…`).
 */
export function inert(text: string): string {
  return text
    .replace(/@(?=\w)/g, "@\u200b")
    .replace(/#(?=\d)/g, "#\u200b")
    .replace(/\b(GH-)(?=\d)/gi, "$1\u200b")
    .replace(/\b((?:close|fix|resolve)[sd]?|fixe[sd])(:?\s+)(?=https?:)/gi, "$1$2\u200b");
}

/** The beginning of a text; half a character is none, and GitHub takes no comment that has one. */
export function shortened(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}

/** Output of a program in a fence that it can't close. */
export function fenced(text: string, language = "text"): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
