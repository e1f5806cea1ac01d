import type { Call } from "./route.js";

const NONE = "0".repeat(40);

/** After a branch moved: the push webhook, and the new head of every open pull request from it. */
export async function branchMoved(call: Call, branch: string, before: string, after: string): Promise<void> {
  if (before === after) return;
  const { front } = call;
  const commit = after === NONE ? null : await front.readObject(`/git/commits/${after}`);
  await front.emit(call.identity, "push", {
    ref: `refs/heads/${branch}`,
    before,
    after,
    created: before === NONE,
    deleted: after === NONE,
    forced: call.body.force === true,
    head_commit: commit === null ? null : { id: after, message: commit.message, author: commit.author },
    commits: commit === null ? [] : [{ id: after, message: commit.message, author: commit.author }],
  });
  for (const { number } of front.parts.pulls.openOn(branch)) {
    if (after === NONE) {
      await front.write("PATCH", `/pulls/${number}`, { state: "closed" });
      front.parts.pulls.change(number, { open: false });
    } else {
      front.parts.pulls.change(number, { sha: after });
    }
    const pull_request = await front.readObject(`/pulls/${number}`);
    const action = after === NONE ? "closed" : "synchronize";
    const range = after === NONE ? {} : { before, after };
    await front.emit(call.identity, "pull_request", { action, number, ...range, pull_request });
  }
}

export const NO_COMMIT = NONE;
