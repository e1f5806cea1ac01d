import { type Answer, answer, invalid, notFound, refusal, succeeded } from "../answer.js";
import { forward } from "../forward.js";
import { loginOf } from "../identities.js";
import { issueFromPull, issueNumber, readIssue, withChanges } from "../issue-changes.js";
import { listOf, objectOf, parseJson, textOf } from "../json.js";
import { hasRole } from "../permissions.js";
import { type Call, route } from "../route.js";

const MAX_BODY = 65_536;
const MAX_LABEL = 50;
const issue = "/repos/:owner/:repo/issues/:number";

export const issueRoutes = [
  route("GET", issue, "nothing", getIssue),
  route("POST", "/repos/:owner/:repo/issues", "sign-in", createIssue),
  route("PATCH", issue, "sign-in", updateIssue),
  route("POST", `${issue}/labels`, "triage", changeLabels),
  route("PUT", `${issue}/labels`, "triage", changeLabels),
  route("DELETE", `${issue}/labels`, "triage", changeLabels),
  route("DELETE", `${issue}/labels/:name`, "triage", changeLabels),
  route("POST", `${issue}/assignees`, "triage", changeAssignees),
  route("DELETE", `${issue}/assignees`, "triage", changeAssignees),
  route("PUT", `${issue}/lock`, "triage"),
  route("DELETE", `${issue}/lock`, "triage"),
  route("POST", "/repos/:owner/:repo/labels", "write", createLabel),
  route("PATCH", "/repos/:owner/:repo/labels/:name", "write"),
  route("DELETE", "/repos/:owner/:repo/labels/:name", "write"),
  route("POST", "/repos/:owner/:repo/milestones", "triage"),
];

async function getIssue(call: Call): Promise<Answer> {
  const number = issueNumber(call);
  if (call.front.parts.pulls.get(number) === undefined) return forward(call);
  return answer(200, await readIssue(call, number));
}

async function createIssue(call: Call): Promise<Answer> {
  const refused = tooLong(call) ?? badLabels(listOf(call.body.labels));
  if (refused !== undefined) return refused;
  const body: Record<string, unknown> = { ...call.body };
  // GitHub silently drops what only people with access may set.
  if (!hasRole(call.identity, "triage"))
    for (const key of ["labels", "assignees", "milestone"]) delete body[key];
  const made = await forward(call, { body });
  if (!succeeded(made)) return made;
  const issue = objectOf(made.body);
  await call.front.emit(call.identity, "issues", { action: "opened", issue });
  for (const label of listOf(issue.labels))
    await call.front.emit(call.identity, "issues", { action: "labeled", issue, label });
  return made;
}

async function updateIssue(call: Call): Promise<Answer> {
  const number = issueNumber(call);
  const before = await readIssue(call, number);
  if (before === undefined) return notFound();
  const isAuthor = objectOf(before.user).login === loginOf(call.identity);
  if (!isAuthor && !hasRole(call.identity, "triage"))
    return refusal(403, "Must have admin rights to Repository.");
  const refused = tooLong(call) ?? badLabels(listOf(call.body.labels));
  if (refused !== undefined) return refused;
  return withChanges(call, number, () =>
    call.front.parts.pulls.get(number) === undefined ? forward(call) : updatePullAsIssue(call, number),
  );
}

async function updatePullAsIssue(call: Call, number: number): Promise<Answer> {
  const { labels, ...rest } = call.body;
  if (Array.isArray(labels))
    await forward(call, { method: "PUT", path: `/issues/${number}/labels`, body: { labels } });
  const done = await forward(call, { path: `/pulls/${number}`, body: rest });
  if (!succeeded(done)) return done;
  call.front.parts.pulls.change(number, { open: objectOf(done.body).state === "open" });
  return { ...done, body: issueFromPull(objectOf(done.body)) };
}

async function changeLabels(call: Call): Promise<Answer> {
  const sent = parseJson(call.raw);
  const refused = badLabels(Array.isArray(sent) ? sent : listOf(call.body.labels));
  return refused ?? withChanges(call, issueNumber(call), () => forward(call));
}

async function changeAssignees(call: Call): Promise<Answer> {
  return withChanges(call, issueNumber(call), () => forward(call));
}

async function createLabel(call: Call): Promise<Answer> {
  const refused = badLabels([call.body.name]);
  if (refused !== undefined) return refused;
  const known = await call.front.read(`/labels/${encodeURIComponent(textOf(call.body.name))}`);
  if (known !== undefined) return invalid("Label", "name", "already_exists");
  const made = await forward(call);
  if (succeeded(made)) await call.front.emit(call.identity, "label", { action: "created", label: made.body });
  return made;
}

function badLabels(labels: readonly unknown[]): Answer | undefined {
  const long = labels.some((one) => (textOf(one) || textOf(objectOf(one).name)).length > MAX_LABEL);
  return long
    ? invalid("Label", "name", "too_long", "name is too long (maximum is 50 characters)")
    : undefined;
}

export function tooLong(call: Call): Answer | undefined {
  if (textOf(call.body.body).length <= MAX_BODY) return undefined;
  return invalid("IssueComment", "body", "unprocessable", "Body is too long (maximum is 65536 characters)");
}
