import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf } from "../errors.js";
import { answer, notFound, refusal } from "./answer.js";
import type { FaultPlan } from "./faults.js";
import { forward } from "./forward.js";
import type { Front } from "./front.js";
import { readBody, withEtag, writeAnswer } from "./http-io.js";
import { loginOf } from "./identities.js";
import { objectOf, parseJson } from "./json.js";
import { Lock } from "./lock.js";
import { pageAt } from "./pages/index.js";
import { refuse } from "./permissions.js";
import type { RequestLog } from "./request-log.js";
import { type Call, decode, matchRoute } from "./route.js";
import { routes } from "./routes/index.js";
import { underFault } from "./under-fault.js";

interface Serving {
  readonly front: Front;
  readonly log: RequestLog;
  readonly faults: FaultPlan;
  /** Writes go one at a time, so that what they changed can be told from reading before and after. */
  readonly writes: Lock;
}

/** Listens at once, so that the URL is known; answers 503 until `serve` says what to serve. */
export async function listen(port: number) {
  let serving: Serving | undefined;
  const server = createServer((request, response) => {
    if (serving === undefined) return writeAnswer(response, refusal(503, "Starting"));
    handle(serving, request, response).catch(() => response.destroy());
  });
  // Longer than any client keeps a connection idle: none is closed just as it is used again.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const serve = (parts: Omit<Serving, "writes">) => {
    serving = { ...parts, writes: new Lock() };
  };
  return { url, serve, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function handle(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const started = performance.now();
  const { front } = serving;
  const method = request.method ?? "GET";
  const target = request.url ?? "/";
  const url = new URL(target, front.parts.url);
  if (method === "GET" && request.headers.authorization === undefined) {
    const html = isPage(front, url.pathname) ? await pageAt(front, url.pathname) : undefined;
    if (html !== undefined)
      return writeAnswer(
        response,
        answer(200, Buffer.from(html), { "content-type": "text/html; charset=utf-8" }),
      );
  }
  const raw = await readBody(request);
  if (raw === undefined) return;
  const matched = matchRoute(routes, method, url.pathname);
  const identity = front.parts.identities.of(request.headers.authorization);
  const call: Call = {
    front,
    method,
    target,
    query: url.searchParams,
    params: matched?.params ?? {},
    headers: request.headers,
    raw,
    body: objectOf(parseJson(raw)),
    identity,
  };
  const apply = async () => {
    const isWrite = method !== "GET" && method !== "HEAD";
    const refused = refuse(identity, matched?.route.needs ?? (isWrite ? "admin" : "nothing"));
    if (refused !== undefined) return refused;
    if (isElsewhere(call)) return notFound();
    const run = () => (matched?.route.handle ?? forward)(call);
    return isWrite ? serving.writes.run(run) : run();
  };
  const effect = serving.faults.take(method, decode(url.pathname) + url.search);
  const outcome = await underFault(effect, apply).catch((error) => refusal(500, messageOf(error)));
  serving.log.record({
    at: new Date(),
    method,
    route: matched?.route.template ?? url.pathname.replace(/\/\d+(?=\/|$)/g, "/:n"),
    path: target,
    status: outcome?.status ?? 0,
    ms: performance.now() - started,
    login: loginOf(identity),
  });
  if (outcome === undefined) request.socket.destroy();
  else writeAnswer(response, withEtag(request, outcome));
}

/** There is one repository; a handler must not take another's request for it. */
function isElsewhere({ params, front }: Call): boolean {
  const { owner, repo } = front.parts;
  return params.owner !== undefined && (params.owner !== owner || params.repo !== repo);
}

function isPage(front: Front, path: string): boolean {
  const root = `/${front.parts.owner}/${front.parts.repo}`;
  return path === "/" || path === root || path.startsWith(`${root}/`);
}
