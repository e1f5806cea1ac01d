import type { Checkpoint } from "../checkpoint/schema.js";
import type { AgentResult, FileChange } from "../ports.js";
import { endOf } from "../whole-characters.js";
import { artifactOf } from "./artifacts.js";
import type { Produced } from "./judgement.js";
import { artifactsOf } from "./outputs.js";
import type { Session } from "./session.js";

/** What a checkpoint says about an agent that has ended. */
export function agentRecord(
  session: Session,
  claim: Checkpoint,
  agent: string,
  result: AgentResult,
  produced: Produced,
) {
  const now = session.clock.now().toISOString();
  const folder = session.plan.layout.folder(claim.issue_number);
  const name = claim.workflow_state.current_phase;
  const succeeded = result.status === "succeeded";
  const before = claim.agent_states[agent]?.token_usage ?? { input: 0, output: 0 };
  const main = result.outputs[0]?.path ?? produced.outputs[0]?.path ?? null;
  const node = claim.execution_graph.node_states[name];
  return {
    agent_states: {
      ...claim.agent_states,
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
      ...claim.agent_outputs,
      [agent]: {
        ...claim.agent_outputs[agent],
        [name]: {
          completed_at: now,
          output_summary: result.summary,
          output_location: main === null ? null : locationOf(folder, main),
        },
      },
    },
    artifacts: artifactsOf(claim.artifacts, produced.outputs),
    files_modified: [...produced.code].map(({ path, status }) => ({ path, status, staged: true })),
    execution_graph: {
      ...claim.execution_graph,
      completed_batches: succeeded ? [1] : [],
      node_states: node
        ? {
            ...claim.execution_graph.node_states,
            [name]: {
              ...node,
              status: succeeded ? ("complete" as const) : ("failed" as const),
              completed_at: now,
              result: result.summary,
            },
          }
        : claim.execution_graph.node_states,
    },
    metadata: succeeded ? {} : { output_tail: endOf(result.outputTail, 4000) },
  };
}

/** An agent's notes for the checkpoint and for the store; no new notes leave the old ones. */
export function notesRecord(
  claim: Checkpoint,
  agent: string,
  notes: string | null,
): { readonly notes: Checkpoint["notes"]; readonly files: readonly FileChange[] } {
  if (notes === null || notes.trim() === "") return { notes: claim.notes, files: [] };
  const path = `notes/${agent}.md`;
  const content = Buffer.from(notes);
  return {
    notes: { ...claim.notes, [agent]: artifactOf(path, content) },
    files: [{ path, mode: "100644", content, status: "modified" }],
  };
}

/** Agents name their outputs by the path in the workspace or in the folder; here it is always the former. */
function locationOf(folder: string, path: string): string {
  return path.startsWith(`${folder}/`) ? path : `${folder}/${path}`;
}
