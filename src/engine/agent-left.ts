import type { FileChange, Workspace } from "../ports.js";
import type { Failure, Produced } from "./judgement.js";

/**
 * The workspace as its agent left it: its changes are read once. What is judged is then also what is saved, whatever
 * gates write or a process that outlived its agent does meanwhile.
 */
export function asAgentLeft(workspace: Workspace): Workspace {
  let changes: Promise<readonly FileChange[]> | null = null;
  return {
    ...workspace,
    changes: () => {
      changes ??= workspace.changes();
      return changes;
    },
  };
}

/** Says so when a file that was judged is no longer the one that the gates looked at. */
export async function changedSinceJudged(
  workspace: Workspace,
  produced: Produced,
  folder: string,
): Promise<Failure | null> {
  const outputs = produced.outputs.map(({ path }) => `${folder}/${path}`);
  const judged = new Set([...produced.code.map(({ path }) => path), ...outputs]);
  const again = (await workspace.touched()).filter((path) => judged.has(path));
  if (again.length === 0) return null;
  const listed = again.slice(0, 10).map((path) => `\`${path.replace(/[`\r\n]/g, "?")}\``);
  return {
    code: "changed_while_gated",
    message: `Files were changed while the gates ran: ${listed.join(", ")}. What the gates saw is not what the agent left, so nothing of it was published.`,
    hint: "Have the agent leave no process behind, and gates only check (a formatter with `--check`, for example). Then comment `/crunch` to try again.",
  };
}
