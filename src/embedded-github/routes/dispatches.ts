import { type Answer, answer, invalid, notFound, refusal } from "../answer.js";
import { loginOf } from "../identities.js";
import { isObject, objectOf, textOf } from "../json.js";
import { type Call, route } from "../route.js";

const MAX_CLIENT_PAYLOAD = 10;

export const dispatchRoutes = [
  route("POST", "/repos/:owner/:repo/dispatches", "write", repositoryDispatch),
  route("POST", "/repos/:owner/:repo/actions/workflows/:workflow/dispatches", "write", workflowDispatch),
  route("GET", "/repos/:owner/:repo/actions/runs/:run", "nothing", getRun),
];

async function repositoryDispatch(call: Call): Promise<Answer> {
  const eventType = textOf(call.body.event_type);
  if (eventType === "") return refusal(422, 'Invalid request.\n\n"event_type" wasn\'t supplied.');
  const clientPayload = objectOf(call.body.client_payload);
  if (Object.keys(clientPayload).length > MAX_CLIENT_PAYLOAD)
    return refusal(422, "No more than 10 properties are allowed");
  const login = loginOf(call.identity);
  call.front.parts.dispatches.repository.push({ at: new Date(), eventType, clientPayload, login });
  const payload = { action: eventType, branch: "main", client_payload: clientPayload };
  await call.front.emit(call.identity, "repository_dispatch", payload);
  return answer(204);
}

async function workflowDispatch(call: Call): Promise<Answer> {
  const workflow = call.params.workflow ?? "";
  const path = `.github/workflows/${workflow}`;
  const file = await call.front.read(`/contents/${path}`);
  if (!isObject(file)) return notFound();
  if (!Buffer.from(textOf(file.content), "base64").toString().includes("workflow_dispatch"))
    return refusal(422, "Workflow does not have 'workflow_dispatch' trigger");
  const ref = textOf(call.body.ref).replace(/^refs\/heads\//, "");
  if (ref === "") return invalid("Workflow", "ref", "missing_field");
  if ((await call.front.read(`/git/ref/heads/${ref}`)) === undefined)
    return refusal(422, `No ref found for: ${ref}`);
  const inputs = objectOf(call.body.inputs);
  call.front.parts.dispatches.workflow.push({
    at: new Date(),
    workflow,
    ref,
    inputs,
    login: loginOf(call.identity),
  });
  await call.front.emit(call.identity, "workflow_dispatch", {
    ref: `refs/heads/${ref}`,
    workflow: path,
    inputs,
  });
  return answer(204);
}

async function getRun(call: Call): Promise<Answer> {
  const id = Number(call.params.run);
  const status = call.front.parts.dispatches.runs.get(id);
  if (status === undefined) return notFound();
  const url = `${call.front.parts.url}${call.front.base}/actions/runs/${id}`;
  return answer(200, {
    id,
    status,
    conclusion: status === "completed" ? "success" : null,
    run_attempt: 1,
    url,
  });
}
