import type { Checkpoint } from "../checkpoint/schema.js";
import type { AgentProgress, AgentResult, FileChange } from "../ports.js";
import { artifactOf } from "./artifacts.js";
import type { IssueTask } from "./issue-task.js";
import type { Carried } from "./journal-parts.js";
import type { Produced } from "./judgement.js";
import { artifactsOf } from "./outputs.js";
import { onlyTask } from "./plan.js";

/** Who did what, for the records of agents. */
export interface Doer {
  readonly agent: string;
  /** The phase, or the task in it. */
  readonly label: string;
  readonly at: string;
  /** The issue's folder in the workspace. */
  readonly folder: string;
}

export function doerOf({ session, agent, phase, name, issue }: IssueTask): Doer {
  const label = name === onlyTask ? phase : `${phase}/${name}`;
  const folder = session.plan.layout.folder(issue.number);
  return { agent: agent.name, label, at: session.clock.now().toISOString(), folder };
}

/** What a checkpoint says about an agent that has ended. */
export function agentRecord(
  run: Carried,
  { agent, label, at, folder }: Doer,
  result: AgentResult,
  produced: Produced,
) {
  const succeeded = result.status === "succeeded";
  const before = run.agent_states[agent]?.token_usage ?? { input: 0, output: 0 };
  const main = result.outputs[0]?.path ?? produced.outputs[0]?.path ?? null;
  return {
    agent_states: {
      ...run.agent_states,
      [agent]: {
        status: succeeded ? ("complete" as const) : ("failed" as const),
        token_usage: {
          input: before.input + result.tokenUsage.input,
          output: before.output + result.tokenUsage.output,
        },
        tool_invocations: [],
        summary: result.summary,
      },
    },
    agent_outputs: {
      ...run.agent_outputs,
      [agent]: {
        ...run.agent_outputs[agent],
        [label]: {
          completed_at: at,
          output_summary: result.summary,
          output_location: main === null ? null : locationOf(folder, main),
        },
      },
    },
    artifacts: artifactsOf(run.artifacts, produced.outputs),
    acceptance_criteria: { ...run.acceptance_criteria, ...result.acceptanceCriteria },
  };
}

/** Notes for the checkpoint and for the store; no new notes leave the old ones. */
export function notesRecord(
  before: Checkpoint["notes"],
  role: string,
  notes: string | null,
): { readonly notes: Checkpoint["notes"]; readonly files: readonly FileChange[] } {
  if (notes === null || notes.trim() === "") return { notes: before, files: [] };
  const path = `notes/${role}.md`;
  const content = Buffer.from(notes);
  return {
    notes: { ...before, [role]: artifactOf(path, content) },
    files: [{ path, mode: "100644", content, status: "modified" }],
  };
}

const progressKept = 20;

export function progressKeptOf(progress: readonly AgentProgress[]): Checkpoint["progress"] {
  return progress.slice(-progressKept).map((line) => ({ ...line }));
}

/** Agents name their outputs by the path in the workspace or in the folder; here it is always the former. */
function locationOf(folder: string, path: string): string {
  return path.startsWith(`${folder}/`) ? path : `${folder}/${path}`;
}
