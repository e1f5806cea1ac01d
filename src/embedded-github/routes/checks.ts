import { type Answer, answer, invalid, notFound, refusal, succeeded } from "../answer.js";
import { forward } from "../forward.js";
import { isObject, listOf, numberOf, objectOf, textOf } from "../json.js";
import { paged } from "../paging.js";
import { type Call, route } from "../route.js";

const MAX_TEXT = 65_535;
const MAX_ANNOTATIONS = 50;
const run = "/repos/:owner/:repo/check-runs/:id";

export const checkRoutes = [
  route("POST", "/repos/:owner/:repo/check-runs", "app", createRun),
  route("PATCH", run, "app", updateRun),
  route("GET", run, "nothing"),
  route("GET", `${run}/annotations`, "nothing", listAnnotations),
  route("POST", `${run}/rerequest`, "write", rerequest),
  route("GET", "/repos/:owner/:repo/commits/:ref*/check-runs", "nothing", listRuns),
  route("GET", "/repos/:owner/:repo/commits/:ref*/check-suites", "nothing"),
  route("POST", "/repos/:owner/:repo/check-suites", "app"),
];

async function createRun(call: Call): Promise<Answer> {
  const refused = overLimit(call);
  if (refused !== undefined) return refused;
  const sha = textOf(call.body.head_sha);
  if ((await call.front.read(`/git/commits/${encodeURIComponent(sha)}`)) === undefined)
    return refusal(422, `No commit found for SHA: ${sha}`);
  const made = await forward(call, { body: concluded(call) });
  if (!succeeded(made) || call.identity.kind !== "installation") return made;
  const id = numberOf(objectOf(made.body).id);
  call.front.parts.checks.created(id, call.identity.slug, annotationsOf(call));
  const check_run = await call.front.readObject(`/check-runs/${id}`);
  await call.front.emit(call.identity, "check_run", { action: "created", check_run });
  if (check_run.status === "completed")
    await call.front.emit(call.identity, "check_run", { action: "completed", check_run });
  return { ...made, body: check_run };
}

async function updateRun(call: Call): Promise<Answer> {
  const refused = overLimit(call);
  if (refused !== undefined) return refused;
  const id = Number(call.params.id);
  const before = await call.front.read(`/check-runs/${id}`);
  if (!isObject(before)) return notFound();
  const owner = call.front.parts.checks.get(id)?.slug;
  if (call.identity.kind === "installation" && owner !== undefined && owner !== call.identity.slug)
    return refusal(
      403,
      "Invalid app_id `null` - check run can only be modified by the GitHub App that created it.",
    );
  const done = await forward(call, { body: concluded(call) });
  if (!succeeded(done)) return done;
  call.front.parts.checks.annotated(id, annotationsOf(call));
  const check_run = await call.front.readObject(`/check-runs/${id}`);
  if (before.status !== "completed" && check_run.status === "completed")
    await call.front.emit(call.identity, "check_run", { action: "completed", check_run });
  return { ...done, body: check_run };
}

async function rerequest(call: Call): Promise<Answer> {
  const done = await forward(call);
  const check_run = await call.front.readObject(`/check-runs/${call.params.id}`);
  if (succeeded(done))
    await call.front.emit(call.identity, "check_run", { action: "rerequested", check_run });
  return done;
}

async function listRuns(call: Call): Promise<Answer> {
  const got = await forward(call);
  if (got.status === 404) return refusal(422, `No commit found for SHA: ${call.params.ref}`);
  if (!succeeded(got)) return got;
  const runs = listOf(objectOf(got.body).check_runs);
  const { items, headers } = paged(call, runs);
  return {
    ...got,
    headers: { ...got.headers, ...headers },
    body: { total_count: runs.length, check_runs: items },
  };
}

async function listAnnotations(call: Call): Promise<Answer> {
  const record = call.front.parts.checks.get(Number(call.params.id));
  if (record === undefined) return forward(call);
  const { items, headers } = paged(call, record.annotations);
  return answer(200, items, headers);
}

/** A conclusion completes the run, said or not. */
function concluded(call: Call): unknown {
  const conclusion = call.body.conclusion;
  return conclusion === undefined || conclusion === null ? call.body : { ...call.body, status: "completed" };
}

const annotationsOf = (call: Call) => listOf(objectOf(call.body.output).annotations).map(objectOf);

function overLimit(call: Call): Answer | undefined {
  const output = objectOf(call.body.output);
  for (const field of ["summary", "text"]) {
    if (textOf(output[field]).length > MAX_TEXT)
      return invalid("CheckRun", field, "too_long", "Only 65535 characters are allowed");
  }
  if (annotationsOf(call).length <= MAX_ANNOTATIONS) return undefined;
  return invalid("CheckRun", "annotations", "too_many", "No more than 50 annotations are allowed");
}
