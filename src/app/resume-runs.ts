import type { CrunchEvent } from "../engine/events.js";
import { knownStateLabels } from "../workflow/labels.js";
import { presets } from "../workflow/presets/index.js";
import type { Dependencies } from "./dependencies.js";
import { loadConfig } from "./load.js";
import { labelEvent } from "./missed-label.js";

/**
 * What a start has to look after: open issues that have a chain, which may have been left in the middle, and those
 * whose label was never heard of, because nobody was listening.
 */
export async function runsToResume(deps: Dependencies): Promise<readonly CrunchEvent[]> {
  const { config, store } = await loadConfig(deps);
  const workflow = presets[config.workflow]({ approval: config.approval });
  const withChain = new Set(await store.issues());
  const events: CrunchEvent[] = [];
  for (const issue of await deps.tracker.openIssues()) {
    const [label] = knownStateLabels(workflow, issue.labels);
    if (withChain.has(issue.number)) {
      events.push({ kind: "started", issue: issue.number, key: "started" });
    } else if (label !== undefined) {
      const missed = await labelEvent(deps.tracker, issue.number, label);
      if (missed) events.push(missed);
    }
  }
  return events;
}
