import type { Checkpoint } from "../checkpoint/schema.js";
import type { Session } from "./session.js";

/** What a claim says of the work to do: done before where an earlier session got that far, else still to do. */
export function plannedWork(
  session: Session,
  parent: Pick<Checkpoint, "execution_graph" | "team_state">,
  latest: Checkpoint | null,
  phase: string,
  now: string,
) {
  const agent = session.plan.phases[phase]?.agent?.name ?? null;
  const node = {
    status: "running" as const,
    depends_on: [],
    agent,
    started_at: now,
    completed_at: null,
    result: null,
  };
  const unfinished = latest && isUnfinished(latest, phase) ? latest : null;
  const done = unfinished?.execution_graph.node_states[phase];
  return {
    execution_graph: {
      ...parent.execution_graph,
      completed_batches: [],
      current_batch: 1,
      node_states: { [phase]: done?.status === "complete" ? done : node },
    },
    team_state: {
      ...parent.team_state,
      members:
        agent === null
          ? []
          : [{ agent, role: phase, status: "active", tasks_completed: 0, tasks_pending: 1 }],
    },
    files_modified: [],
    partial_work: unfinished?.partial_work ?? [],
    progress: unfinished?.progress ?? [],
  };
}

/** Whether the phase was left in the middle, by a crash, a stop or its time limit, so that its work can be taken up. */
function isUnfinished(latest: Checkpoint, phase: string): boolean {
  if (latest.workflow_state.current_phase !== phase) return false;
  return latest.type === "PRE" || latest.error?.code === "agent_timed_out";
}
