import { pendingBatches, restoreGraph } from "../checkpoint/execution-graph.js";
import type { StaleFinding } from "../checkpoint/freshness.js";
import type { RollbackPlan } from "../checkpoint/rollback.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { plain } from "../markdown.js";

export interface PreviewView {
  readonly checkpoint: Checkpoint;
  /** Where it would go on. */
  readonly phase: string;
  /** What would be put back, for a checkpoint that is not the latest. */
  readonly rollback: RollbackPlan | null;
  readonly findings: readonly StaleFinding[];
}

/** What a resume would restore. Nothing has been restored yet. */
export function renderPreview({ checkpoint, phase, rollback, findings }: PreviewView): string {
  const { recovery_info: recovery } = checkpoint;
  const nodes = restoreGraph(checkpoint.execution_graph).node_states;
  const done = Object.entries(nodes).filter(([, { status }]) => status === "complete");
  const open = pendingBatches(nodes).flat();
  const notes = Object.values(checkpoint.notes).map(
    ({ path, size_bytes }) => `\`${path}\` (${size_bytes} bytes)`,
  );
  const outputs = Object.values(checkpoint.artifacts).map(({ path }) => `\`${plain(path)}\``);
  const partial = (rollback?.partialWork ?? checkpoint.partial_work).map(({ path }) => `\`${plain(path)}\``);
  const rows = [
    ["would go on with", `\`${phase}\`${recovery.resume_from ? `, ${recovery.resume_from}` : ""}`],
    ["tasks that are complete", listed(done.map(([id]) => `\`${plain(id)}\``))],
    ["tasks to do", listed(open.map((id) => `\`${plain(id)}\``))],
    ["notes for the agents", listed(notes)],
    ["outputs", listed(outputs)],
    ["unfinished work", listed(partial)],
    ["code", checkpoint.issue_snapshot.head_sha?.slice(0, 12) ?? "none yet"],
    ...(rollback ? [["put back", listed(rollback.restore.map(({ path }) => `\`${plain(path)}\``))]] : []),
    ...(rollback ? [["archived", listed(rollback.archived.map(({ path }) => `\`${plain(path)}\``))]] : []),
    ["can resume", recovery.can_resume ? "yes" : "no, the run is over"],
    ["warnings", listed([...recovery.warnings, ...findings.map(({ message }) => message)].map(plain))],
  ];
  return [
    `**What a resume from \`${checkpoint.checkpoint_id}\` would restore** (nothing was changed)`,
    ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n"),
  ].join("\n\n");
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? "none" : items.join(", ");
}
