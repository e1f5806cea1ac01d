/** A file of the code branch that somebody else changed, as GitHub compares two commits. */
export interface ChangedFile {
  readonly path: string;
  readonly status: "added" | "modified" | "deleted" | "renamed";
  readonly patch: string | null;
}

const mostFiles = 50;
const mostPatchLines = 40;
const mostDiffCharacters = 20_000;

/** Every file by name, as far as there is room, then as many patches as fit: which files is the first question. */
export function listOfFiles(files: readonly ChangedFile[]): string {
  const parts = files
    .slice(0, mostFiles)
    .map(({ path, status }) => `${status.padEnd(8)} ${path.slice(0, 300)}`);
  if (files.length > mostFiles) parts.push(`… and ${files.length - mostFiles} more files`);
  let room = mostDiffCharacters - parts.join("\n").length;
  let left = 0;
  for (const { path, patch } of files) {
    if (patch === null || patch === "") continue;
    const shown = `\n--- ${path.slice(0, 300)}\n${firstLines(patch)}`;
    if (shown.length > room) left++;
    else parts.push(shown);
    room -= shown.length > room ? 0 : shown.length;
  }
  if (left > 0)
    parts.push(`\n… the patches of ${left} ${left === 1 ? "file" : "files"} are too long to show`);
  return parts.join("\n");
}

function firstLines(patch: string): string {
  const lines = patch.trimEnd().split("\n");
  const left = lines.length - mostPatchLines;
  const more = left > 0 ? [`… ${left} more ${left === 1 ? "line" : "lines"} not shown`] : [];
  return [...lines.slice(0, mostPatchLines), ...more].join("\n");
}
