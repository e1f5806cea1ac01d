import type { Checkpoint } from "../checkpoint/schema.js";
import { inert, shortened } from "../markdown.js";

/** The pull request's text. It is written once; the sticky comment on the issue is what keeps up to date. */
export function renderPullRequest(checkpoint: Checkpoint): { readonly title: string; readonly body: string } {
  const { issue_number: issue, issue_snapshot: snapshot } = checkpoint;
  const firstLine = snapshot.title.split(/[\r\n]/)[0] ?? "";
  return {
    // Merged as one commit, the title becomes its message, which GitHub reads too.
    title: `${inert(shortened(firstLine, 200))} (#${issue})`,
    body: `Closes #${issue}. Crunch opened this for the work of agents; #${issue} shows where it stands, and each gate is a check here.`,
  };
}
