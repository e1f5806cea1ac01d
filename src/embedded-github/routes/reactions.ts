import { type Answer, answer, invalid, notFound } from "../answer.js";
import { loginOf } from "../identities.js";
import { readIssue } from "../issue-changes.js";
import { textOf } from "../json.js";
import { REACTIONS, type Reaction } from "../reactions.js";
import { type Call, route } from "../route.js";

const onComment = "/repos/:owner/:repo/issues/comments/:comment/reactions";
const onIssue = "/repos/:owner/:repo/issues/:number/reactions";

export const reactionRoutes = [onComment, onIssue].flatMap((on) => [
  route("GET", on, "nothing", list),
  route("POST", on, "sign-in", add),
  route("DELETE", `${on}/:reaction`, "sign-in", remove),
]);

async function subjectOf(call: Call): Promise<string | undefined> {
  const { comment, number } = call.params;
  if (comment !== undefined) {
    const found = await call.front.read(`/issues/comments/${comment}`);
    return found === undefined ? undefined : `issues/comments/${comment}`;
  }
  return (await readIssue(call, Number(number))) === undefined ? undefined : `issues/${number}`;
}

async function list(call: Call): Promise<Answer> {
  const subject = await subjectOf(call);
  if (subject === undefined) return notFound();
  const content = call.query.get("content");
  const all = call.front.parts.reactions.list(subject);
  return answer(200, all.filter((one) => content === null || one.content === content).map(shown));
}

async function add(call: Call): Promise<Answer> {
  const subject = await subjectOf(call);
  if (subject === undefined) return notFound();
  const content = textOf(call.body.content);
  if (!REACTIONS.some((known) => known === content)) return invalid("Reaction", "content", "invalid");
  const login = loginOf(call.identity) ?? "";
  const user = await call.front.user(login);
  const { reaction, isNew } = call.front.parts.reactions.add(subject, login, content, user);
  return answer(isNew ? 201 : 200, shown(reaction));
}

async function remove(call: Call): Promise<Answer> {
  const subject = await subjectOf(call);
  const id = Number(call.params.reaction);
  const { reactions } = call.front.parts;
  const known = subject === undefined ? undefined : reactions.list(subject).find((one) => one.id === id);
  if (subject === undefined || known?.login !== loginOf(call.identity)) return notFound();
  reactions.remove(subject, id);
  return answer(204);
}

function shown({ id, content, user, created_at }: Reaction) {
  return { id, node_id: `REA_${id}`, user, content, created_at };
}
