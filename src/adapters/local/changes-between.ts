import type { CodeChange } from "../../ports.js";
import type { LocalGit } from "./git.js";

/** What a person still reads, and what GitHub shows at most. */
const LONGEST_PATCH = 64 * 1024;
const MOST_FILES = 300;
const OPTIONS = ["-r", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=3"];

const statuses: Readonly<Record<string, CodeChange["status"]>> = { A: "added", D: "deleted", R: "renamed" };

/** What one commit has otherwise than another, with patches as GitHub gives them: from the first `@@` on. */
export async function changesBetween(
  git: LocalGit,
  from: string,
  to: string,
): Promise<readonly CodeChange[]> {
  const names = await git.text(["diff-tree", ...OPTIONS, "--name-status", "-z", from, to]);
  const entries = parseNames(names.split("\0"));
  if (entries.length > MOST_FILES) return entries.slice(0, MOST_FILES).map((entry) => changeOf(entry, []));
  const patches = await git.text(["diff-tree", ...OPTIONS, "--patch", from, to]);
  // Lines of a file begin with a space, a plus or a minus: this one can only be a heading.
  const sections = patches.split(/^(?=diff --git )/m).filter((section) => section.startsWith("diff --git "));
  let next = 0;
  return entries.map((entry) => {
    const count = entry.letter === "T" ? 2 : 1;
    const own = sections.slice(next, next + count);
    next += count;
    return changeOf(entry, own);
  });
}

interface Entry {
  readonly letter: string;
  readonly path: string;
}

/** `M`, path; `R087`, old path, new path. */
function parseNames(fields: readonly string[]): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at + 1 < fields.length; ) {
    const letter = fields[at]?.slice(0, 1) ?? "";
    const width = letter === "R" ? 3 : 2;
    entries.push({ letter, path: fields[at + width - 1] ?? "" });
    at += width;
  }
  return entries;
}

/** A file that became a link or the reverse is shown as one that went and one that came. */
function changeOf({ letter, path }: Entry, sections: readonly string[]): CodeChange {
  const hunks = sections.flatMap((section) => /^@@ [\s\S]*/m.exec(section)?.[0].replace(/\n$/, "") ?? []);
  const patch = hunks.join("\n");
  const isShown = patch !== "" && patch.length <= LONGEST_PATCH;
  return { path, status: statuses[letter] ?? "modified", patch: isShown ? patch : null };
}
