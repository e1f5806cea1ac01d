import { type Answer, answer, notFound, refusal, succeeded } from "../answer.js";
import { forward } from "../forward.js";
import type { Role } from "../identities.js";
import { textOf } from "../json.js";
import { legacyPermission } from "../permissions.js";
import { type Call, route } from "../route.js";

const collaborator = "/repos/:owner/:repo/collaborators/:login";
const roles: Readonly<Record<string, Role>> = {
  pull: "read",
  triage: "triage",
  push: "write",
  maintain: "maintain",
  admin: "admin",
};

export const peopleRoutes = [
  route("GET", "/user", "nothing", currentUser),
  route("GET", "/users/:login", "nothing"),
  route("GET", `${collaborator}/permission`, "sign-in", permission),
  route("PUT", collaborator, "admin", setRole),
  route("DELETE", collaborator, "admin", removeRole),
];

async function currentUser(call: Call): Promise<Answer> {
  if (call.identity.kind === "installation") return refusal(403, "Resource not accessible by integration");
  return forward(call);
}

async function permission(call: Call): Promise<Answer> {
  const login = call.params.login ?? "";
  const role = call.front.parts.identities.roleOf(login);
  if (role === undefined) return refusal(404, `${login} is not a user`);
  const user = await call.front.user(login);
  return answer(200, {
    permission: legacyPermission(role),
    role_name: role,
    user: { ...user, role_name: role },
  });
}

async function setRole(call: Call): Promise<Answer> {
  const login = call.params.login ?? "";
  if (call.front.parts.identities.roleOf(login) === undefined) return notFound();
  const done = await forward(call);
  if (!succeeded(done)) return done;
  call.front.parts.identities.setRole(login, roles[textOf(call.body.permission)] ?? "write");
  return answer(204);
}

async function removeRole(call: Call): Promise<Answer> {
  const done = await forward(call);
  if (succeeded(done)) call.front.parts.identities.setRole(call.params.login ?? "", "none");
  return done;
}
