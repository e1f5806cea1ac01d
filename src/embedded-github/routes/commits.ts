import { type Answer, refusal } from "../answer.js";
import { forward } from "../forward.js";
import { type Call, route } from "../route.js";

export const commitRoutes = [
  route("GET", "/repos/:owner/:repo/commits", "nothing"),
  route("GET", "/repos/:owner/:repo/commits/:ref*", "nothing", getCommit),
];

async function getCommit(call: Call): Promise<Answer> {
  const got = await forward(call);
  return got.status === 404 ? refusal(422, `No commit found for SHA: ${call.params.ref}`) : got;
}
