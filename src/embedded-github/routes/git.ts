import { type Answer, refusal, succeeded } from "../answer.js";
import { branchMoved, NO_COMMIT } from "../branch-moves.js";
import { forward } from "../forward.js";
import { createTree } from "../git-tree.js";
import { isObject, objectOf, textOf } from "../json.js";
import { type Call, route } from "../route.js";

const git = "/repos/:owner/:repo/git";
const contents = "/repos/:owner/:repo/contents/:path*";

export const gitRoutes = [
  route("GET", `${git}/ref/:ref*`, "nothing"),
  route("GET", `${git}/matching-refs/:ref*`, "nothing"),
  route("GET", `${git}/commits/:sha`, "nothing"),
  route("GET", `${git}/trees/:sha*`, "nothing"),
  route("GET", `${git}/blobs/:sha`, "nothing"),
  route("POST", `${git}/blobs`, "write"),
  route("POST", `${git}/trees`, "write", createTree),
  route("POST", `${git}/commits`, "write", createCommit),
  route("POST", `${git}/tags`, "write"),
  route("POST", `${git}/refs`, "write", createRef),
  route("PATCH", `${git}/refs/:ref*`, "write", updateRef),
  route("DELETE", `${git}/refs/:ref*`, "write", deleteRef),
  route("GET", contents, "nothing"),
  route("PUT", contents, "write", changeFile),
  route("DELETE", contents, "write", changeFile),
  route("GET", "/repos/:owner/:repo/compare/:basehead*", "nothing"),
];

async function createCommit(call: Call): Promise<Answer> {
  return forward(call, { body: { ...call.body, parents: call.body.parents ?? [] } });
}

async function createRef(call: Call): Promise<Answer> {
  const made = await forward(call);
  if (made.status === 422 && objectOf(made.body).message === "Invalid sha")
    return refusal(422, "Object does not exist");
  const branch = branchOf(textOf(call.body.ref).replace(/^refs\//, ""));
  if (!succeeded(made) || branch === undefined) return made;
  const master_branch = "main";
  await call.front.emit(call.identity, "create", { ref: branch, ref_type: "branch", master_branch });
  await branchMoved(call, branch, NO_COMMIT, textOf(call.body.sha));
  return made;
}

async function updateRef(call: Call): Promise<Answer> {
  const ref = call.params.ref ?? "";
  const before = await tip(call, ref);
  if (before === undefined) return refusal(422, "Reference does not exist");
  const done = await forward(call);
  if (done.status === 422) {
    const message = textOf(objectOf(done.body).message);
    if (message === "Invalid sha") return refusal(422, "Object does not exist");
    return refusal(422, message.replace("not a fast-forward", "not a fast forward"));
  }
  const branch = branchOf(ref);
  if (succeeded(done) && branch !== undefined) await branchMoved(call, branch, before, textOf(call.body.sha));
  return done;
}

async function deleteRef(call: Call): Promise<Answer> {
  const ref = call.params.ref ?? "";
  const before = await tip(call, ref);
  if (before === undefined) return refusal(422, "Reference does not exist");
  const done = await forward(call);
  const branch = branchOf(ref);
  if (!succeeded(done) || branch === undefined) return done;
  await call.front.emit(call.identity, "delete", { ref: branch, ref_type: "branch" });
  await branchMoved(call, branch, before, NO_COMMIT);
  return done;
}

async function changeFile(call: Call): Promise<Answer> {
  const branch = textOf(call.body.branch) || (call.query.get("branch") ?? "main");
  const before = (await tip(call, `heads/${branch}`)) ?? NO_COMMIT;
  const done = await forward(call, { body: queryBody(call) });
  const after = textOf(objectOf(objectOf(done.body).commit).sha);
  if (succeeded(done)) await branchMoved(call, branch, before, after);
  return done;
}

/** A DELETE's fields come as a query too. */
function queryBody(call: Call): unknown {
  return { ...Object.fromEntries(call.query), ...call.body };
}

const branchOf = (ref: string): string | undefined => /^heads\/(.+)$/.exec(ref)?.[1];

async function tip(call: Call, ref: string): Promise<string | undefined> {
  const found = await call.front.read(`/git/ref/${ref.split("/").map(encodeURIComponent).join("/")}`);
  return isObject(found) ? textOf(objectOf(found.object).sha) : undefined;
}
