import { type Answer, notFound, refusal, succeeded } from "../answer.js";
import { forward } from "../forward.js";
import { loginOf } from "../identities.js";
import { issueNumber, readIssue } from "../issue-changes.js";
import { isObject, type JsonObject, objectOf, textOf } from "../json.js";
import { hasRole } from "../permissions.js";
import { type Call, route } from "../route.js";
import { tooLong } from "./issues.js";

const comment = "/repos/:owner/:repo/issues/comments/:id";

export const commentRoutes = [
  route("GET", comment, "nothing"),
  route("GET", "/repos/:owner/:repo/issues/comments", "nothing"),
  route("GET", "/repos/:owner/:repo/issues/:number/comments", "nothing"),
  route("POST", "/repos/:owner/:repo/issues/:number/comments", "sign-in", createComment),
  route("PATCH", comment, "sign-in", updateComment),
  route("DELETE", comment, "sign-in", deleteComment),
];

async function createComment(call: Call): Promise<Answer> {
  const refused = tooLong(call);
  if (refused !== undefined) return refused;
  const made = await forward(call);
  if (succeeded(made)) await emit(call, "created", objectOf(made.body), issueNumber(call));
  return made;
}

async function updateComment(call: Call): Promise<Answer> {
  const before = await call.front.read(`/issues/comments/${call.params.id}`);
  if (!isObject(before)) return notFound();
  const refused = tooLong(call) ?? notTheirs(call, before);
  if (refused !== undefined) return refused;
  const done = await forward(call);
  if (succeeded(done) && before.body !== objectOf(done.body).body) {
    const changes = { body: { from: before.body } };
    await emit(call, "edited", objectOf(done.body), numberIn(before), { changes });
  }
  return done;
}

async function deleteComment(call: Call): Promise<Answer> {
  const before = await call.front.read(`/issues/comments/${call.params.id}`);
  if (!isObject(before)) return notFound();
  const refused = notTheirs(call, before);
  if (refused !== undefined) return refused;
  const done = await forward(call);
  if (succeeded(done)) await emit(call, "deleted", before, numberIn(before));
  return done;
}

function notTheirs(call: Call, comment: JsonObject): Answer | undefined {
  if (objectOf(comment.user).login === loginOf(call.identity) || hasRole(call.identity, "write"))
    return undefined;
  return refusal(403, "Must have admin rights to Repository.");
}

async function emit(call: Call, action: string, comment: JsonObject, number: number, extra: JsonObject = {}) {
  const issue = await readIssue(call, number);
  await call.front.emit(call.identity, "issue_comment", { action, ...extra, issue, comment });
}

const numberIn = (comment: JsonObject): number => Number(textOf(comment.issue_url).split("/").at(-1));
