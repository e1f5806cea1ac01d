import { isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from "./json.js";
import type { Call } from "./route.js";

/** GitHub treats a pull request as an issue in the issues API; the emulator does not know it there. */
export function issueFromPull(pull: JsonObject): JsonObject {
  const { url, html_url, diff_url, patch_url, merged_at } = pull;
  const kept = [
    "id",
    "node_id",
    "number",
    "title",
    "user",
    "labels",
    "state",
    "locked",
    "assignee",
    "assignees",
  ];
  const more = [
    "milestone",
    "created_at",
    "updated_at",
    "closed_at",
    "body",
    "author_association",
    "html_url",
  ];
  return {
    ...Object.fromEntries([...kept, ...more].map((key) => [key, pull[key]])),
    url: pull.issue_url,
    comments_url: pull.comments_url,
    comments: pull.comments,
    labels_url: `${textOf(pull.issue_url)}/labels{/name}`,
    pull_request: { url, html_url, diff_url, patch_url, merged_at },
  };
}

export async function readIssue(call: Call, number: number): Promise<JsonObject | undefined> {
  const { front } = call;
  if (front.parts.pulls.get(number) !== undefined) {
    return issueFromPull(await front.readObject(`/pulls/${number}`));
  }
  const issue = await front.read(`/issues/${number}`);
  return isObject(issue) ? issue : undefined;
}

/** Runs a write on an issue or pull request and sends the webhooks for whatever it changed. */
export async function withChanges<T>(call: Call, number: number, write: () => Promise<T>): Promise<T> {
  const before = await readIssue(call, number);
  const result = await write();
  const after = await readIssue(call, number);
  if (before === undefined || after === undefined) return result;
  const isPull = call.front.parts.pulls.get(number) !== undefined;
  const subject = isPull
    ? { number, pull_request: await call.front.readObject(`/pulls/${number}`) }
    : { issue: after };
  const emit = (action: string, extra: JsonObject = {}) =>
    call.front.emit(call.identity, isPull ? "pull_request" : "issues", { action, ...subject, ...extra });

  const changes: Record<string, unknown> = {};
  if (before.title !== after.title) changes.title = { from: before.title };
  if ((before.body ?? "") !== (after.body ?? "")) changes.body = { from: before.body ?? "" };
  if (Object.keys(changes).length > 0) await emit("edited", { changes });
  if (before.state !== after.state) await emit(after.state === "closed" ? "closed" : "reopened");
  for (const label of missingFrom(after.labels, before.labels, "id")) await emit("unlabeled", { label });
  for (const label of missingFrom(before.labels, after.labels, "id")) await emit("labeled", { label });
  for (const assignee of missingFrom(after.assignees, before.assignees, "id"))
    await emit("unassigned", { assignee });
  for (const assignee of missingFrom(before.assignees, after.assignees, "id"))
    await emit("assigned", { assignee });
  return result;
}

function missingFrom(list: unknown, candidates: unknown, key: string): readonly JsonObject[] {
  const known = new Set(listOf(list).map((one) => objectOf(one)[key]));
  return listOf(candidates)
    .map(objectOf)
    .filter((one) => !known.has(one[key]));
}

export const issueNumber = (call: Call): number => numberOf(Number(call.params.number));
