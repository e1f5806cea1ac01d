import { type Answer, answer, refusal, succeeded } from "../answer.js";
import { forward } from "../forward.js";
import { objectOf, textOf } from "../json.js";
import { type Call, route } from "../route.js";

/** Apps sign in with a JWT, which the emulator verifies. */
export const appRoutes = [
  route("GET", "/app", "nothing"),
  route("GET", "/app/installations", "nothing"),
  route("GET", "/app/installations/:id", "nothing"),
  route("POST", "/app/installations/:id/access_tokens", "nothing", createToken),
  route("GET", "/installation/repositories", "sign-in", installationRepositories),
  route("GET", "/repos/:owner/:repo/installation", "nothing"),
];

async function createToken(call: Call): Promise<Answer> {
  const made = await forward(call);
  const app = call.front.parts.apps.find((one) => one.installationId === Number(call.params.id));
  if (succeeded(made) && app !== undefined)
    call.front.parts.identities.addInstallation(textOf(objectOf(made.body).token), app.slug);
  return made;
}

async function installationRepositories(call: Call): Promise<Answer> {
  if (call.identity.kind !== "installation")
    return refusal(403, "You must authenticate with an installation access token");
  const repository = await call.front.read("");
  return answer(200, { total_count: 1, repository_selection: "all", repositories: [repository] });
}
