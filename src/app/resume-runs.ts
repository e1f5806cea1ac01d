import type { CrunchEvent } from "../engine/events.js";
import type { Issue } from "../ports.js";
import { knownStateLabels } from "../workflow/labels.js";
import { presets } from "../workflow/presets/index.js";
import type { Dependencies } from "./dependencies.js";
import { loadConfig } from "./load.js";

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
    if (withChain.has(issue.number)) events.push({ kind: "started", issue: issue.number, key: "started" });
    else if (label !== undefined) events.push(...(await missedLabel(deps, issue, label)));
  }
  return events;
}

/** A label counts only with the name of who added it: not everybody who may label may start a run. */
async function missedLabel(deps: Dependencies, { number }: Issue, label: string): Promise<CrunchEvent[]> {
  const by = await deps.tracker.labeledBy(number, label);
  if (by === null || by.login.endsWith("[bot]")) return [];
  const key = `label:${label}@${by.at}`;
  return [{ kind: "labeled", issue: number, label, actor: by.login, key }];
}
