import { statusOf } from "./client.js";
import { named, type Repository } from "./repository.js";

/** Whether an Actions run is still going: `queued`, `in_progress`, `completed`; null when it can't be told. */
export async function runStatus(repository: Repository, runId: number): Promise<string | null> {
  try {
    const { data } = await repository.octokit.actions.getWorkflowRun({ ...named(repository), run_id: runId });
    return data.status;
  } catch (error) {
    const status = statusOf(error);
    // A deleted run has ended; without `actions: read` nobody knows.
    if (status === 404) return "completed";
    if (status === 403) return null;
    throw error;
  }
}
