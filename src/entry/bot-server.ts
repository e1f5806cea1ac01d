import { createServer, type Server } from "node:http";
import { createNodeMiddleware, Probot, ProbotOctokit } from "probot";
import { messageOf } from "../errors.js";
import type { Log } from "../ports.js";

export interface BotServerOptions {
  readonly appId: number;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly apiUrl: string;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  /** Takes a webhook whose signature is right. */
  readonly receive: (deliveryId: string, name: string, payload: unknown) => void;
  /** How many events are in work. */
  readonly pending: () => number;
}

/** Listens for webhooks, and answers how things are under `/health`. */
export async function startBotServer(options: BotServerOptions): Promise<Server> {
  const middleware = await webhookMiddleware(options);
  const server = createServer(async (request, response) => {
    if (request.method === "GET" && request.url === "/health") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: "ok", pending: options.pending() }));
      return;
    }
    if (!(await middleware(request, response)) && !response.writableEnded) response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return server;
}

/** Probot checks signatures and knows GitHub's events; its own client, which waits between writes, is not used. */
async function webhookMiddleware(options: BotServerOptions) {
  const Octokit = ProbotOctokit.defaults({ throttle: { enabled: false }, retry: { enabled: false } });
  const { appId, privateKey, webhookSecret: secret, apiUrl: baseUrl } = options;
  const probot = new Probot({ appId, privateKey, secret, baseUrl, Octokit, logLevel: "fatal" });
  probot.onAny(({ id, name, payload }) => {
    try {
      options.receive(id, name, payload);
    } catch (error) {
      options.log.error(`a delivery of ${name} could not be read: ${messageOf(error)}`);
    }
  });
  return createNodeMiddleware(() => {}, { probot });
}
