import type { IndexEntry } from "./index-entry.js";
import type { Checkpoint, Trigger } from "./schema.js";

/** How many checkpoints of each trigger are kept in each phase: -1 all, 0 none. */
export type RetentionPolicy = Readonly<Record<Trigger, number>>;

export const defaultRetention: RetentionPolicy = {
  phase_start: -1,
  phase_transition: -1,
  phase_failure: -1,
  batch_complete: 3,
  agent_complete: 1,
  conflict_start: -1,
  conflict_resolved: -1,
  user_interrupt: 1,
  session_end: 1,
  manual: -1,
  approval: -1,
  rollback: -1,
  before_human: -1,
  pause: 1,
  every_n_events: 3,
};

/**
 * The ids of the checkpoints that `added` makes superfluous. `entries` are those of the index before it. Never the
 * latest, what it refers to, what a rollback went back to, nor the question that a person has not answered yet.
 */
export function expiredCheckpoints(
  entries: readonly IndexEntry[],
  policy: RetentionPolicy,
  added: Checkpoint,
): readonly string[] {
  const live = entries.filter(({ removed_at }) => removed_at === undefined);
  const surplus = new Set(surplusOf(live, policy, added));
  if (surplus.size === 0) return [];
  for (const id of neededBy(added, live)) surplus.delete(id);
  // What a rollback went back to is needed as long as the rollback itself is kept.
  for (const { checkpoint_id, trigger, parent_checkpoint_id: target } of live.toReversed()) {
    if (trigger === "rollback" && !surplus.has(checkpoint_id) && target !== null) surplus.delete(target);
  }
  return [...surplus];
}

/** Whether retention will never take an entry away, so that it may move to a page, which never changes. */
export function isSettled(entries: readonly IndexEntry[], policy: RetentionPolicy | undefined) {
  const keptFor = new Set<string | null>();
  for (const { trigger, removed_at, parent_checkpoint_id } of entries) {
    const isKeptRollback = trigger === "rollback" && removed_at === undefined && policy?.rollback === -1;
    if (isKeptRollback) keptFor.add(parent_checkpoint_id);
  }
  return ({ checkpoint_id, trigger, removed_at }: IndexEntry): boolean =>
    removed_at !== undefined || (policy?.[trigger] ?? -1) < 0 || keptFor.has(checkpoint_id);
}

function surplusOf(live: readonly IndexEntry[], policy: RetentionPolicy, added: Checkpoint): string[] {
  const key = (trigger: Trigger, phase: string) => `${trigger} ${phase}`;
  const kept = new Map([[key(added.trigger, added.workflow_state.current_phase), 1]]);
  const surplus: string[] = [];
  for (const { checkpoint_id, trigger, phase } of live.toReversed()) {
    const group = key(trigger, phase);
    const count = kept.get(group) ?? 0;
    if (policy[trigger] >= 0 && count >= policy[trigger]) surplus.push(checkpoint_id);
    else kept.set(group, count + 1);
  }
  return surplus;
}

function* neededBy(added: Checkpoint, live: readonly IndexEntry[]): Iterable<string> {
  const states = Object.values(added.orchestrator_state.phases);
  if (added.parent_checkpoint_id !== null) yield added.parent_checkpoint_id;
  for (const { checkpoint_id } of states) if (checkpoint_id !== null) yield checkpoint_id;
  if (states.every(({ status }) => status !== "waiting")) return;
  // The question may have been asked in the phase before the one that waits: so the newest of every phase.
  const asked = live.filter(({ trigger }) => trigger === "before_human");
  yield* new Map(asked.map(({ phase, checkpoint_id }) => [phase, checkpoint_id])).values();
}
