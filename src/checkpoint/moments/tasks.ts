import { pendingBatches } from "../execution-graph.js";
import type { Checkpoint } from "../schema.js";
import type { Task, TaskReports } from "./moment.js";
import { type Run, refused } from "./run.js";

type Graph = Checkpoint["execution_graph"];
export type Nodes = Graph["node_states"];

export const isOpen = ({ status }: Nodes[string]) => status === "pending" || status === "running";

export function plannedNodes(tasks: Readonly<Record<string, Task>>): Nodes {
  const nodes = Object.entries(tasks).map(
    ([id, { dependsOn = [], agent = null }]): [string, Nodes[string]] => {
      const times = { started_at: null, completed_at: null, result: null };
      return [id, { status: "pending", depends_on: [...dependsOn], agent, ...times }];
    },
  );
  return Object.fromEntries(nodes);
}

/** The nodes with those changed that `change` gives something for. */
export function mapNodes(nodes: Nodes, change: (node: Nodes[string], id: string) => Partial<Nodes[string]>) {
  const changed = Object.entries(nodes).map(([id, node]) => [id, { ...node, ...change(node, id) }] as const);
  return Object.fromEntries(changed) satisfies Nodes;
}

/** What needs nothing more is begun: the next batch follows the one before without a further word. */
export function withReadyBegun(nodes: Nodes, now: string): Nodes {
  const ready = new Set(pendingBatches(nodes)[0]);
  return mapNodes(nodes, (node, id) =>
    ready.has(id) && node.status === "pending" ? { status: "running", started_at: now } : {},
  );
}

/**
 * Batches are numbered by what tasks need, not by when they ran: so a number means the same tasks in every session,
 * in whichever order they end.
 */
export function withBatches(graph: Graph, nodes: Nodes): Graph {
  const batches = batchesOf(nodes);
  const numbers = batches.map((_, at) => at + 1);
  const isEnded = (number: number) => openIn(nodes, batches[number - 1]).length === 0;
  return {
    ...graph,
    completed_batches: numbers.filter(isEnded),
    current_batch: numbers.find((number) => !isEnded(number)) ?? Math.max(1, batches.length),
    node_states: nodes,
  };
}

/** The open tasks of the batch that is under way. */
export function openInBatch({ node_states: nodes, current_batch: number }: Graph): readonly string[] {
  return openIn(nodes, batchesOf(nodes)[number - 1]);
}

const batchesOf = (nodes: Nodes) => pendingBatches(mapNodes(nodes, () => ({ status: "pending" })));

function openIn(nodes: Nodes, batch: readonly string[] = []): readonly string[] {
  return batch.filter((id) => isOpen(nodes[id] ?? missing));
}

const missing: Nodes[string] = {
  ...{ status: "failed", depends_on: [], agent: null, started_at: null, completed_at: null, result: null },
};

/** The graph's nodes after what was reported. Only tasks that could have been done may be. */
export function reportedNodes({ execution_graph }: Run, reports: TaskReports, now: string): Nodes {
  const nodes = execution_graph.node_states;
  for (const id of Object.keys(reports)) refuseUnready(nodes, id);
  return mapNodes(nodes, (node, id) => {
    const report = Object.hasOwn(reports, id) ? reports[id] : undefined;
    if (!report) return {};
    const { status = "complete", agent = node.agent, summary } = report;
    return { status, agent, started_at: node.started_at ?? now, completed_at: now, result: summary };
  });
}

function refuseUnready(nodes: Nodes, id: string): void {
  const node = Object.hasOwn(nodes, id) ? nodes[id] : undefined;
  const name = JSON.stringify(id.slice(0, 60));
  if (!node)
    throw refused(
      "task_unknown",
      `The phase has no task ${name}.`,
      `Its tasks are: ${Object.keys(nodes).slice(0, 20).join(", ")}.`,
    );
  if (!isOpen(node))
    throw refused(
      "task_not_ready",
      `The task ${name} is ${node.status} already.`,
      "Report every task once; the latest checkpoint tells which are open.",
    );
  const isDone = (need: string) =>
    Object.hasOwn(nodes, need) && /complete|skipped/.test(nodes[need]?.status ?? "");
  const open = node.depends_on.filter((need) => !isDone(need));
  if (open.length > 0)
    throw refused(
      "task_not_ready",
      `The task ${name} is not ready: it needs ${open.slice(0, 20).join(", ")}.`,
      "Report what it needs first, in a batch of its own.",
    );
}
