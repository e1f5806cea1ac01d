import { CrunchError } from "../errors.js";
import type { CheckpointStore } from "../ports.js";
import type { Imported } from "./imported.js";

/** Stores an imported chain, each checkpoint on top of the one before. Returns how many there are. */
export async function storeImport(
  store: CheckpointStore,
  issue: number,
  { checkpoints, files }: Pick<Imported, "checkpoints" | "files">,
): Promise<number> {
  const isTaken = (await store.latest(issue)) !== null || (await store.list(issue)).length > 0;
  if (isTaken) throw chainExists(issue, 0);
  for (const [at, checkpoint] of checkpoints.entries()) {
    const put = await store.put(checkpoint, {
      // Not its parent: a rollback's is the checkpoint that it goes back to.
      expectedLatest: checkpoints[at - 1]?.checkpoint_id ?? null,
      files: files.get(checkpoint.checkpoint_id) ?? [],
    });
    if (put.status === "conflict") throw chainExists(issue, at);
  }
  return checkpoints.length;
}

/** An older run put before or after a living one would make its history untrue. */
function chainExists(issue: number, stored: number): CrunchError {
  const before = stored === 0 ? "" : `, begun by somebody else after ${stored} checkpoints were imported`;
  return new CrunchError({
    code: "import_chain_exists",
    message: `Issue ${issue} has a chain of checkpoints already${before}. Nothing more was imported.`,
    hint: "Import into an issue that Crunch has not worked on, or delete the issue's storage branch first.",
  });
}
