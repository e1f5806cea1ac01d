import type { CrunchEvent } from "../engine/events.js";
import type { Dependencies } from "./dependencies.js";
import { loadConfig } from "./load.js";

/** The runs of a repo that may have been left in the middle: open issues that have a chain. */
export async function runsToResume(deps: Dependencies): Promise<readonly CrunchEvent[]> {
  const { store } = await loadConfig(deps);
  const withChain = new Set(await store.issues());
  if (withChain.size === 0) return [];
  const open = await deps.tracker.openIssues();
  return open
    .filter(({ number }) => withChain.has(number))
    .map(({ number }) => ({ kind: "started", issue: number, key: "started" }));
}
