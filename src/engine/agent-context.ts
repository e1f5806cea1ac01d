import type { AgentContext, Json, Workspace } from "../ports.js";
import type { TaskContext } from "../workflow/definition.js";
import type { IssueTask } from "./issue-task.js";
import { visibleMarkdown, visibleText } from "./visible-text.js";

/** What the agent is told. The issue's text is data from outside: what a person can't see is left out of it. */
export function agentContext(
  task: IssueTask,
  context: Pick<TaskContext<Readonly<Record<string, Json>>, Json>, "state" | "attempt" | "version" | "item">,
  workspace: Pick<Workspace, "directory">,
  previous: { readonly notes: string | null; readonly error: string | null },
): AgentContext {
  const { session, journal, issue, phase } = task;
  const { agent_outputs, issue_snapshot: text } = journal.run;
  const summaries = Object.values(agent_outputs).flatMap((outputs) =>
    Object.entries(outputs).map(([label, output]) => [label, output.output_summary] as const),
  );
  return {
    protocol: 1,
    repository: session.repository,
    phase,
    phase_version: context.version,
    attempt: context.attempt,
    issue: {
      number: issue.number,
      title: visibleText(text.title),
      body: visibleMarkdown(text.body),
      labels: text.labels.map(visibleText),
      url: issue.url,
    },
    workspace: workspace.directory,
    output_folder: session.plan.layout.folder(issue.number),
    checkpoint_id: task.recorder.latest?.checkpoint_id ?? "",
    task: { name: task.name, does: task.does, role: task.role, kind: task.kind, item: context.item },
    state: context.state,
    previous: { summaries: Object.fromEntries(summaries), ...previous, gates: failedGates(task) },
  };
}

/** What they printed is what the agent has to put right. */
function failedGates({ journal, phase }: IssueTask) {
  return journal.run.governance_results.quality_gates
    .filter((gate) => gate.phase === phase && gate.status === "failed")
    .map(({ name, summary, details }) => ({ name, summary, details }));
}
