import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import { Run } from "./run.js";
import type { RunResult } from "./run-result.js";
import { openSession, type RunOptions } from "./session.js";

/** Runs a workflow, or goes on with it, until it is over or has to wait. */
export async function runWorkflow<S extends StateOf>(
  workflow: WorkflowDefinition<S>,
  options: RunOptions,
): Promise<RunResult<S>> {
  const session = await openSession(workflow, options);
  const result = await new Run(session, options).run();
  if (result.status === "held_back") throw new Error("nobody holds back a run without a host");
  return result;
}
