import type { FileChange } from "../ports.js";
import type { Carried } from "./journal-parts.js";
import type { Plan } from "./plan.js";

/** For notes, progress, the error and the index, which are saved in any case. */
const forTheRest = 1024 * 1024;
/** A checkpoint itself has a limit too, and names every file. */
const mostForNames = 4 * 1024 * 1024;

/** Those of the files that one checkpoint has room for, the smallest first: more of the work is kept that way. */
export function fittingFiles(
  files: readonly FileChange[],
  { issue, run }: { readonly issue: number; readonly run: Carried },
  { maxPutBytes, layout }: Plan,
): readonly FileChange[] {
  const checkpointSize = 2 * Buffer.byteLength(JSON.stringify(run));
  let room = maxPutBytes - checkpointSize - Math.min(forTheRest, maxPutBytes / 2);
  let roomForNames = mostForNames;
  const kept = new Set<FileChange>();
  const folder = `${layout.folder(issue)}/`;
  for (const file of [...files].sort((a, b) => sizeOf(a) - sizeOf(b))) {
    const name = 300 + 2 * Buffer.byteLength(file.path);
    // An output may be written twice: where it lies, and by its hash.
    room -= name + sizeOf(file) * (file.path.startsWith(folder) ? 2 : 1);
    roomForNames -= name;
    if (room < 0 || roomForNames < 0) break;
    kept.add(file);
  }
  return files.filter((file) => kept.has(file));
}

function sizeOf({ content }: FileChange): number {
  return content?.length ?? 0;
}
