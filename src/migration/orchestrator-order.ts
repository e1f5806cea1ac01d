import type { OrchestratorCheckpoint } from "./orchestrator-schema.js";
import { quoted } from "./refusal.js";

export interface Source {
  readonly path: string;
  readonly checkpoint: OrchestratorCheckpoint;
}

/** By time, and every parent before its children, whatever the clocks said. */
export function inOrder(sources: readonly Source[], problems: string[]): readonly Source[] {
  const byId = new Map(sources.map((source) => [source.checkpoint.id, source]));
  const done = new Set<Source>();
  for (const source of [...sources].sort(byTime)) {
    const trail = new Set<Source>();
    let at: Source | undefined = source;
    while (at && !done.has(at) && !trail.has(at)) {
      trail.add(at);
      at = parentOf(at, byId, problems);
    }
    if (at && trail.has(at)) problems.push(`${quoted(at.path)} is among its own ancestors`);
    for (const one of [...trail].reverse()) done.add(one);
  }
  return [...done];
}

function parentOf(
  { path, checkpoint }: Source,
  byId: ReadonlyMap<string, Source>,
  problems: string[],
): Source | undefined {
  const id = checkpoint.parent_checkpoint_id;
  if (id === null) return undefined;
  const parent = byId.get(id);
  if (!parent) problems.push(`${quoted(path)} names the parent ${quoted(id)}, which is not there`);
  return parent;
}

function byTime({ checkpoint: a }: Source, { checkpoint: b }: Source): number {
  const difference = Date.parse(a.created_at) - Date.parse(b.created_at);
  if (difference !== 0) return difference;
  if (a.version !== b.version) return a.version - b.version;
  return a.type === b.type ? 0 : a.type === "PRE" ? -1 : 1;
}
