import { inert, shortened } from "../markdown.js";
import type { FileChange } from "../ports.js";
import type { IssueTask } from "./issue-task.js";
import { keepTrying } from "./keep-trying.js";
import { visibleText } from "./visible-text.js";

/** The agent's code as a commit that nothing shows yet; null when the branch stays as it is. */
export async function publishable(
  { session, journal, recorder, phase, issue }: IssueTask,
  code: readonly FileChange[],
): Promise<string | null> {
  const { issue_snapshot: snapshot } = journal.run;
  if (code.length === 0) return snapshot.head_sha;
  // GitHub reads commit messages too: a title that says "Fixes #1" must not close that.
  const title = inert(shortened(visibleText(snapshot.title.split(/[\r\n]/)[0] ?? ""), 60));
  const message = `${phase}: ${title} (#${issue.number})`;
  const until = recorder.latest?.lease?.expires_at ?? null;
  // A commit that nothing points to harms nobody, so it may be made twice.
  return keepTrying(session, "keeping the agent's code", until, async () => {
    const parent = await session.code.commit(snapshot.head_sha ?? snapshot.base_sha);
    return (await session.code.prepareCommit({ parent, changes: code, message })).sha;
  });
}
