import { type Answer, invalid, notFound, refusal, succeeded } from "../answer.js";
import { forward } from "../forward.js";
import { loginOf } from "../identities.js";
import { issueNumber, withChanges } from "../issue-changes.js";
import { isObject, numberOf, objectOf, textOf } from "../json.js";
import { hasRole } from "../permissions.js";
import { mergePull } from "../pull-merge.js";
import { type Call, route } from "../route.js";

const pull = "/repos/:owner/:repo/pulls/:number";

export const pullRoutes = [
  route("GET", "/repos/:owner/:repo/pulls", "nothing"),
  route("GET", pull, "nothing"),
  route("GET", `${pull}/files`, "nothing", listFiles),
  route("GET", `${pull}/commits`, "nothing", listCommits),
  route("GET", `${pull}/reviews`, "nothing"),
  route("POST", "/repos/:owner/:repo/pulls", "write", createPull),
  route("PATCH", pull, "sign-in", updatePull),
  route("PUT", `${pull}/merge`, "write", mergePull),
  route("POST", `${pull}/reviews`, "sign-in", review),
  route("POST", `${pull}/comments`, "sign-in"),
  route("POST", `${pull}/requested_reviewers`, "write"),
];

async function createPull(call: Call): Promise<Answer> {
  const { parts } = call.front;
  const branch = textOf(call.body.head).replace(new RegExp(`^${parts.owner}:`), "");
  const base = textOf(call.body.base);
  for (const [field, name] of [
    ["head", branch],
    ["base", base],
  ] as const) {
    const ref = await call.front.read(`/git/ref/heads/${name}`);
    if (name === "" || ref === undefined) return invalid("PullRequest", field, "invalid");
  }
  if (parts.pulls.openOn(branch).some((one) => one.base === base)) {
    const message = `A pull request already exists for ${parts.owner}:${branch}.`;
    return refusal(422, "Validation Failed", {
      errors: [{ resource: "PullRequest", code: "custom", message }],
    });
  }
  const refused = await nothingToPull(call, base, branch);
  if (refused !== undefined) return refused;
  const made = await forward(call);
  if (!succeeded(made)) return made;
  const opened = objectOf(made.body);
  const number = numberOf(opened.number);
  parts.pulls.set({ number, branch, base, sha: textOf(objectOf(opened.head).sha), open: true });
  await call.front.emit(call.identity, "pull_request", { action: "opened", number, pull_request: opened });
  return made;
}

async function nothingToPull(call: Call, base: string, branch: string): Promise<Answer | undefined> {
  const compared = await call.front.read(`/compare/${base}...${branch}`);
  const message = !isObject(compared)
    ? `The ${branch} branch has no history in common with ${base}`
    : compared.ahead_by === 0
      ? `No commits between ${base} and ${branch}`
      : undefined;
  if (message === undefined) return undefined;
  return refusal(422, "Validation Failed", {
    errors: [{ resource: "PullRequest", code: "custom", message }],
  });
}

async function updatePull(call: Call): Promise<Answer> {
  const number = issueNumber(call);
  const before = await call.front.read(`/pulls/${number}`);
  if (!isObject(before)) return notFound();
  const isAuthor = objectOf(before.user).login === loginOf(call.identity);
  if (!isAuthor && !hasRole(call.identity, "write"))
    return refusal(403, "Resource not accessible by personal access token");
  return withChanges(call, number, async () => {
    const done = await forward(call);
    const after = objectOf(done.body);
    if (succeeded(done))
      call.front.parts.pulls.change(number, {
        open: after.state === "open",
        base: textOf(objectOf(after.base).ref),
      });
    return done;
  });
}

async function listFiles(call: Call): Promise<Answer> {
  return fromComparison(call, "files");
}

async function listCommits(call: Call): Promise<Answer> {
  return fromComparison(call, "commits");
}

/** The emulator makes these lists up; comparing the branches gives the real ones. */
async function fromComparison(call: Call, key: "files" | "commits"): Promise<Answer> {
  const known = call.front.parts.pulls.get(issueNumber(call));
  if (known === undefined) return notFound();
  const query = call.query.toString();
  const got = await forward(call, {
    path: `/compare/${known.base}...${known.sha}${query === "" ? "" : `?${query}`}`,
  });
  return succeeded(got) ? { ...got, body: objectOf(got.body)[key] } : got;
}

async function review(call: Call): Promise<Answer> {
  const number = issueNumber(call);
  const made = await forward(call);
  if (!succeeded(made) || call.body.event === undefined) return made;
  const raw = objectOf(made.body);
  const pull_request = await call.front.readObject(`/pulls/${number}`);
  const payload = { ...raw, state: textOf(raw.state).toLowerCase() };
  await call.front.emit(call.identity, "pull_request_review", {
    action: "submitted",
    review: payload,
    pull_request,
  });
  return made;
}
