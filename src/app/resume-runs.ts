import type { Checkpoint } from "../checkpoint/schema.js";
import type { CrunchEvent } from "../engine/events.js";
import { isHeldByAnother } from "../engine/lease.js";
import { labelFor, type Standing, standingOf } from "../engine/standing.js";
import { timesCome } from "../engine/wake.js";
import { CrunchError, messageOf } from "../errors.js";
import type { CheckpointStore, Issue } from "../ports.js";
import { knownStateLabels, stateLabel } from "../workflow/labels.js";
import type { Workflow } from "../workflow/workflow.js";
import type { Dependencies } from "./dependencies.js";
import { configFile, loadConfig } from "./load.js";
import { labelEvent } from "./missed-label.js";

/** What was seen of an issue, so that the next look does not cost the same again. */
export type SweepMemory = Map<number, { readonly seen: string; readonly at: number }>;

/** When a run that should go on, and has not, is looked at again. */
const againMs = 30 * 60_000;
/** A session that died while it showed how a phase ended: somebody has to show it. Later, nobody waits for it. */
const shownWithinMs = 24 * 3_600_000;

interface Look {
  readonly deps: Dependencies;
  readonly store: CheckpointStore;
  readonly workflow: Workflow;
  readonly advance: "auto" | "manual";
  readonly memory: SweepMemory;
}

/**
 * What nobody looks after: open issues whose run was left in the middle, and those whose label was never heard of,
 * because nobody was listening. Runs that are held, over or waiting for a person are left alone.
 */
export async function runsToResume(
  deps: Dependencies,
  memory: SweepMemory = new Map(),
): Promise<readonly CrunchEvent[]> {
  // Most repos of an installation do not use Crunch: one request tells.
  if ((await deps.readFile(configFile)) === null) return [];
  const { config, store, workflow } = await loadConfig(deps);
  const look = { deps, store, workflow, advance: config.advance, memory };
  const withChain = new Set(await store.issues());
  const events: CrunchEvent[] = [];
  for (const issue of await issuesToLookAt(look, withChain)) {
    const found = withChain.has(issue.number) ? await unfinished(look, issue) : await unheard(look, issue);
    if (found) events.push(found);
  }
  return events;
}

/** Those with a state label; and, once, those that have only a chain: a session may have died before it set one. */
async function issuesToLookAt({ deps, workflow, memory }: Look, withChain: ReadonlySet<number>) {
  const labels = Object.keys(workflow.phases).map(stateLabel);
  const found = [...(await deps.tracker.openIssues(labels))];
  const labelled = new Set(found.map(({ number }) => number));
  for (const number of withChain) {
    if (labelled.has(number) || memory.has(number)) continue;
    try {
      const issue = await deps.tracker.issue(number);
      if (issue.isOpen) found.push(issue);
      else memory.set(number, { seen: "closed", at: deps.clock.now().getTime() });
    } catch (error) {
      // It may have been moved to another repo, or deleted: no reason to leave the others.
      deps.log.warn(`#${number} could not be looked at: ${messageOf(error)}`);
    }
  }
  return found;
}

async function unfinished(look: Look, issue: Issue): Promise<CrunchEvent | null> {
  const { deps, store, workflow, advance } = look;
  const event = { kind: "started", issue: issue.number, key: "started" } as const;
  let latest: Checkpoint | null;
  try {
    latest = await store.latest(issue.number);
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    // A chain that can't be read: handling it says so on the issue.
    return isNews(look, issue, error.message, true) ? event : null;
  }
  if (!latest || (await isHeldByAnother(latest, "", deps.clock, deps.liveness))) return null;
  const standing = standingOf(workflow, latest.orchestrator_state.phases, advance);
  const labels = knownStateLabels(workflow, issue.labels);
  const come = timesCome(latest, deps.clock.now());
  const isGoing = standing.kind === "running" || standing.kind === "next";
  const isAtRest = !isGoing || latest.pause !== null || labels.length === 0;
  const isKnown = !isNews(look, issue, `${latest.checkpoint_id} ${come}`, isAtRest);
  const isQuiet = isAtRest && come === 0 && isShown(look, latest, standing, labels);
  return isKnown || isQuiet ? null : event;
}

/** The label is shown last: where it alone says how the run stands, nothing is left to put right. */
function isShown(
  { deps }: Look,
  { lease }: Checkpoint,
  standing: Standing,
  labels: readonly string[],
): boolean {
  if (labels.length !== 1 || labels[0] !== labelFor(standing)) return false;
  // A phase that failed, or waits, has the label it had while it ran.
  const isRecent =
    lease !== null && deps.clock.now().getTime() - Date.parse(lease.expires_at) < shownWithinMs;
  return standing.kind === "finished" || !isRecent;
}

async function unheard(look: Look, issue: Issue): Promise<CrunchEvent | null> {
  const [label] = knownStateLabels(look.workflow, issue.labels);
  if (label === undefined || !isNews(look, issue, "no run", true)) return null;
  return labelEvent(look.deps.tracker, issue.number, label);
}

/** Whether the issue is not as it was when it was last looked at. */
function isNews(
  { deps, memory }: Look,
  { number, labels }: Issue,
  state: string,
  isAtRest: boolean,
): boolean {
  const seen = [state, ...labels].join("\n");
  const at = deps.clock.now().getTime();
  const before = memory.get(number);
  if (before?.seen === seen && (isAtRest || at - before.at < againMs)) return false;
  memory.set(number, { seen, at });
  return true;
}
