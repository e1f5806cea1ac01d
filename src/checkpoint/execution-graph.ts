import type { Checkpoint } from "./schema.js";

type Graph = Checkpoint["execution_graph"];
type Nodes = Graph["node_states"];

const isOver = (status: Nodes[string]["status"]) => status === "complete" || status === "skipped";

/** A graph as a new session takes it up: what is complete stays so, what was running has to be done again. */
export function restoreGraph(graph: Graph): Graph {
  const restored = Object.entries(graph.node_states).map(([id, node]) =>
    node.status === "running" ? [id, { ...node, status: "pending" as const, started_at: null }] : [id, node],
  );
  return { ...graph, node_states: Object.fromEntries(restored) };
}

/** The tasks still to do, in batches: each batch needs only what is complete or in a batch before it. */
export function pendingBatches(nodes: Nodes): readonly (readonly string[])[] {
  const waitingFor = new Map<string, number>();
  const neededBy = new Map<string, string[]>();
  for (const [id, node] of Object.entries(nodes)) {
    if (node.status !== "pending" && node.status !== "running") continue;
    const open = node.depends_on.filter((needed) => !isOver(nodes[needed]?.status ?? "pending"));
    waitingFor.set(id, open.length);
    for (const needed of open) {
      // Added in place: a task that thousands wait for would otherwise be copied thousands of times.
      const waiting = neededBy.get(needed);
      if (waiting) waiting.push(id);
      else neededBy.set(needed, [id]);
    }
  }
  const batches: string[][] = [];
  let batch = [...waitingFor].filter(([, count]) => count === 0).map(([id]) => id);
  while (batch.length > 0) {
    batches.push(batch);
    const next: string[] = [];
    for (const done of batch) {
      for (const id of neededBy.get(done) ?? []) {
        const left = (waitingFor.get(id) ?? 0) - 1;
        waitingFor.set(id, left);
        if (left === 0) next.push(id);
      }
    }
    batch = next;
  }
  return batches;
}

/** Tasks that can never be done: what they need failed, is missing, or needs them in turn. */
export function blockedTasks(nodes: Nodes): readonly string[] {
  const reachable = new Set(pendingBatches(nodes).flat());
  return Object.entries(nodes)
    .filter(([id, { status }]) => (status === "pending" || status === "running") && !reachable.has(id))
    .map(([id]) => id);
}

/** Where work goes on: `batch_3_task_1`; null when no task is left. */
export function resumePoint(graph: Graph): string | null {
  return pendingBatches(graph.node_states).length === 0 ? null : `batch_${graph.current_batch}_task_1`;
}
