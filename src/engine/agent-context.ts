import type { Checkpoint } from "../checkpoint/schema.js";
import type { AgentContext, Issue, Workspace } from "../ports.js";
import type { Session } from "./session.js";
import { visibleMarkdown, visibleText } from "./visible-text.js";

/** What the agent is told. The issue's text is data from outside: what a person can't see is left out of it. */
export function agentContext(
  session: Session,
  claim: Checkpoint,
  issue: Issue,
  workspace: Workspace,
  notes: string | null,
): AgentContext {
  const summaries = Object.values(claim.agent_outputs).flatMap((tasks) =>
    Object.entries(tasks).map(([task, output]) => [task, output.output_summary] as const),
  );
  return {
    protocol: 1,
    repository: session.repository,
    phase: claim.workflow_state.current_phase,
    phase_version: claim.phase_version,
    attempt: claim.workflow_state.phase_attempt,
    issue: {
      number: issue.number,
      title: visibleText(issue.title),
      body: visibleMarkdown(issue.body),
      labels: issue.labels.map(visibleText),
      url: issue.url,
    },
    workspace: workspace.directory,
    output_folder: session.plan.layout.folder(issue.number),
    checkpoint_id: claim.checkpoint_id,
    previous: {
      summaries: Object.fromEntries(summaries),
      notes,
      error: previousError(claim),
      gates: failedGates(claim),
    },
  };
}

/** What they printed is what the agent has to put right. */
function failedGates({ governance_results, workflow_state: { current_phase } }: Checkpoint) {
  return governance_results.quality_gates
    .filter(({ phase, status }) => phase === current_phase && status === "failed")
    .map(({ name, summary, details }) => ({ name, summary, details }));
}

function previousError(claim: Checkpoint): string | null {
  const error = claim.metadata.previous_error;
  return typeof error === "string" ? error : null;
}
