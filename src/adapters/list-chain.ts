import type { IndexEntry } from "../checkpoint/index-entry.js";
import { type CheckpointIndex, inStoredOrder } from "../checkpoint/index-file.js";
import { CrunchError } from "../errors.js";

/** The entries of an index and of all its pages. */
export async function listed(
  index: CheckpointIndex | null,
  options: { readonly removed?: boolean } | undefined,
  readPage: (number: number) => Promise<readonly IndexEntry[] | null>,
): Promise<readonly IndexEntry[]> {
  if (index === null) return [];
  const numbers = Array.from({ length: index.pages }, (_, at) => at + 1);
  const pages = await Promise.all(
    numbers.map(async (number) => {
      const page = await readPage(number);
      if (page === null) throw pageMissing(number);
      return page;
    }),
  );
  const all = inStoredOrder([...pages.flat(), ...index.checkpoints]);
  return options?.removed ? all : all.filter(({ removed_at }) => removed_at === undefined);
}

function pageMissing(number: number): CrunchError {
  return new CrunchError({
    code: "index_invalid",
    message: `The checkpoint index names a page ${number}, which is not there.`,
    hint: "Restore the index files of the chain from the previous commit of the storage branch.",
  });
}
