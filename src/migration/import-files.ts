import { encodeCheckpoint } from "../checkpoint/codec.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { Imported, ImportOptions, Layout, SourceFiles } from "./imported.js";
import { orchestratorJson } from "./orchestrator-json.js";
import { isSafePath } from "./outside.js";
import { s3Yaml } from "./plain-yaml.js";
import { progressJson } from "./progress-json.js";
import { importRefused, quoted } from "./refusal.js";

/** The most that is read: far more than a run leaves behind, and far less than fills a machine's memory. */
export const importLimits = {
  files: 20_000,
  bytesAFile: 50 * 1024 * 1024,
  bytes: 500 * 1024 * 1024,
  /** A store refuses a put of 50 MB, and its index and checkpoint count, too. */
  bytesACheckpoint: 45 * 1024 * 1024,
} as const;

/** The orchestrator's comes first: its `index.json` would pass for a progress file. */
const layouts: readonly Layout[] = [orchestratorJson, s3Yaml, progressJson];

/** The checkpoints of an older layout as a chain of ours. Stores nothing; all of the input is untrusted. */
export function importFiles(files: SourceFiles, options: ImportOptions): Imported {
  refuseHostile(files);
  const layout = layoutOf(files);
  const imported = layout.read(files, options);
  if (imported.checkpoints.length === 0) {
    const why = imported.problems.slice(0, 5).join("; ");
    throw importRefused(`No checkpoint could be read: ${why}.`, "Correct the files, then import again.");
  }
  for (const checkpoint of imported.checkpoints) refuseUnwritable(checkpoint, imported);
  return imported;
}

function layoutOf(files: SourceFiles): Layout {
  const paths = [...files.keys()];
  const [layout, other] = layouts.filter(({ marks }) => paths.some((path) => marks(path)));
  if (layout === undefined) {
    throw importRefused(
      "The folder holds no checkpoints of a layout that is known.",
      "Point to `.claude/checkpoints` (with run-<id>/ folders), to `progress/checkpoints` (with <agent>-<task>.json), " +
        "or to a folder with `checkpoints/CP-….yaml`.",
    );
  }
  // A stray JSON file beside the others is no second layout; the reader reports it.
  if (other === undefined || other === progressJson) return layout;
  throw importRefused(
    `The folder holds checkpoints of two layouts: ${layout.name} and ${other.name}.`,
    "Point to the folder of one of them.",
  );
}

function refuseHostile(files: SourceFiles): void {
  const hint = "Point to the folder that holds the checkpoints, and to nothing above it.";
  if (files.size > importLimits.files)
    throw importRefused(`The folder has ${files.size} files, more than ${importLimits.files}.`, hint);
  let total = 0;
  for (const [path, { length }] of files) {
    if (!isSafePath(path)) throw importRefused(`${quoted(path)} is not a path inside the folder.`, hint);
    if (length > importLimits.bytesAFile)
      throw importRefused(`${quoted(path)} has ${length} bytes, more than ${importLimits.bytesAFile}.`, hint);
    total += length;
  }
  if (total > importLimits.bytes)
    throw importRefused(`The files have ${total} bytes, more than ${importLimits.bytes}.`, hint);
}

/** Better before the first one is stored than in the middle of a chain. */
function refuseUnwritable(checkpoint: Checkpoint, { files }: Imported): void {
  const from = JSON.stringify(checkpoint.metadata.imported_from);
  const sizes = files.get(checkpoint.checkpoint_id)?.map(({ content }) => content?.length ?? 0) ?? [];
  const size = sizes.reduce((sum, one) => sum + one, 0);
  if (size > importLimits.bytesACheckpoint) {
    const message = `The files of ${quoted(from)} have ${size} bytes, more than ${importLimits.bytesACheckpoint}.`;
    throw importRefused(
      message,
      "Take large artifacts out of the folder: the checkpoint keeps their hashes.",
    );
  }
  try {
    encodeCheckpoint(checkpoint);
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    throw importRefused(`What ${quoted(from)} became can't be stored: ${error.message}`, error.hint, error);
  }
}
