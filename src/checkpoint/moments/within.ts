import type { CheckpointChange } from "../create.js";
import { agentsAfter } from "./agents.js";
import type { Moment } from "./moment.js";
import { phaseThatIs, type Run, refused } from "./run.js";
import { openInBatch, reportedNodes, withBatches, withReadyBegun } from "./tasks.js";

/** The phase goes on: what it has not finished yet stays with it from checkpoint to checkpoint. */
export function goingOn<T extends CheckpointChange["trigger"]>(run: Run, trigger: T) {
  const { partial_work, progress } = run;
  return { type: "PRE" as const, trigger, outcome: null, partial_work, progress };
}

/** All tasks of a batch have ended, and the next batch begins. Those that `agent_complete` told of count. */
export function batchComplete(run: Run, moment: Moment<"batch_complete">, now: string): CheckpointChange {
  phaseThatIs(run, "running");
  const { tasks = {} } = moment;
  const before = run.execution_graph;
  const reported = reportedNodes(run, tasks, now);
  const graph = withBatches(before, reported);
  const known = new Set(before.completed_batches);
  const isFurther = graph.completed_batches.some((number) => !known.has(number));
  if (!isFurther) {
    const open = openInBatch({ ...before, node_states: reported });
    throw refused(
      "batch_open",
      open.length > 0
        ? `Batch ${before.current_batch} is not complete: ${open.slice(0, 20).join(", ")} did not end yet.`
        : "No batch has ended since the last checkpoint of one.",
      "Report single tasks with `agent_complete`, and the batch when all its tasks have ended.",
    );
  }
  const nodes = withReadyBegun(reported, now);
  return {
    ...goingOn(run, "batch_complete"),
    execution_graph: { ...graph, node_states: nodes },
    ...agentsAfter(run, nodes, tasks, now),
  };
}

/** One agent is done with its task, while others may still work. It is not done again from here. */
export function agentComplete(run: Run, moment: Moment<"agent_complete">, now: string): CheckpointChange {
  phaseThatIs(run, "running");
  const reports = { [moment.task]: moment.report };
  const nodes = reportedNodes(run, reports, now);
  return {
    ...goingOn(run, "agent_complete"),
    execution_graph: { ...run.execution_graph, node_states: nodes },
    ...agentsAfter(run, nodes, reports, now),
  };
}

/** An agent has reported so many steps that losing them would hurt. */
export function everyNEvents(run: Run): CheckpointChange {
  phaseThatIs(run, "running");
  return goingOn(run, "every_n_events");
}
