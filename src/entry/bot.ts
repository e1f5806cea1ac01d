import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createNodeMiddleware, Probot, ProbotOctokit } from "probot";
import { z } from "zod";
import { createGitHubApp, type InstalledRepository } from "../adapters/github/app.js";
import { parseEvent } from "../adapters/github/events.js";
import { thisProcess } from "../adapters/liveness.js";
import type { Dependencies } from "../app/dependencies.js";
import { createEventQueue } from "../app/event-queue.js";
import { createGitHubDependencies } from "../app/github-dependencies.js";
import { handleEvent } from "../app/handle-event.js";
import { runsToResume } from "../app/resume-runs.js";
import { createSlots } from "../app/slots.js";
import type { OperatorConfig } from "../config/operator.js";
import type { CrunchEvent } from "../engine/events.js";
import { messageOf } from "../errors.js";
import type { Log } from "../ports.js";

export interface BotOptions {
  readonly appId: number;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly apiUrl: string;
  readonly host: string;
  readonly port: number;
  readonly operator: OperatorConfig;
  readonly allowedBots: readonly string[];
  /** How many runs may work at the same time on this machine. */
  readonly maxSessions: number;
  readonly redact: (text: string) => string;
  readonly log: Log;
}

export interface Bot {
  readonly url: string;
  /** Resolves when every event so far has been handled. */
  settled(): Promise<void>;
  /** Stops listening and stops the agents; what they did so far is in the last checkpoint. */
  close(): Promise<void>;
}

const Delivery = z.looseObject({
  installation: z.object({ id: z.number() }),
  repository: z.object({
    name: z.string(),
    default_branch: z.string(),
    owner: z.object({ login: z.string() }),
  }),
});

export async function startBot(options: BotOptions): Promise<Bot> {
  const { log } = options;
  const stop = new AbortController();
  const app = createGitHubApp({ ...options, onRetry: (message) => log.warn(message) });
  const ownLogin = await app.login();
  const queue = createEventQueue({ log, signal: stop.signal });
  const slots = createSlots(options.maxSessions);
  const repositories = new Map<string, Dependencies>();

  function dependenciesOf({ owner, repo, defaultBranch, installationId }: InstalledRepository): Dependencies {
    const key = `${installationId} ${owner}/${repo} ${defaultBranch}`;
    const known = repositories.get(key);
    if (known) return known;
    const created = createGitHubDependencies({
      repository: { octokit: app.client(installationId), owner, repo, defaultBranch },
      authority: { kind: "operator", operator: options.operator },
      holder: thisProcess(),
      checkout: null,
      ...{ ownLogin, slots, redact: options.redact, log, signal: stop.signal },
    });
    repositories.set(key, created);
    return created;
  }

  async function handle(repository: InstalledRepository, event: CrunchEvent): Promise<void> {
    const outcome = await handleEvent(dependenciesOf(repository), event);
    const reason = "reason" in outcome ? `: ${outcome.reason}` : "";
    const fields = { event: "handled", issue: event.issue, status: outcome.status, kind: event.kind };
    log.info(`#${event.issue} ${event.kind} ${outcome.status}${reason}`, fields);
  }

  function receive(deliveryId: string, name: string, payload: unknown): void {
    const parsed = parseEvent(name, payload, { ownLogin, allowedBots: options.allowedBots });
    if (parsed.status === "ignored") return;
    const { installation, repository } = Delivery.parse(payload);
    const { name: repo, default_branch: defaultBranch, owner } = repository;
    const installed = { owner: owner.login, repo, defaultBranch, installationId: installation.id };
    const about = `${owner.login}/${repo}#${parsed.event.issue}`;
    queue.submit(deliveryId, about, () => handle(installed, parsed.event));
  }

  /** What the last process left in the middle goes on. */
  async function resume(repository: InstalledRepository): Promise<void> {
    for (const event of await runsToResume(dependenciesOf(repository))) {
      const about = `${repository.owner}/${repository.repo}#${event.issue}`;
      queue.submit(null, about, () => handle(repository, event));
    }
  }

  const server = await listen(options, await webhookMiddleware(options, receive), () => queue.pending);
  const url = `http://${options.host}:${(server.address() as AddressInfo).port}`;
  queue.submit(null, "looking for unfinished runs", async () => {
    for (const repository of await app.repositories()) await resume(repository);
  });
  return {
    url,
    settled: () => queue.settled(),
    async close() {
      stop.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, queue.settled()]);
    },
  };
}

type Middleware = Awaited<ReturnType<typeof createNodeMiddleware>>;

/** Probot checks signatures and knows GitHub's events; its own client, which waits between writes, is not used. */
async function webhookMiddleware(
  options: BotOptions,
  receive: (deliveryId: string, name: string, payload: unknown) => void,
): Promise<Middleware> {
  const Octokit = ProbotOctokit.defaults({ throttle: { enabled: false }, retry: { enabled: false } });
  const { appId, privateKey, webhookSecret: secret, apiUrl: baseUrl } = options;
  const probot = new Probot({ appId, privateKey, secret, baseUrl, Octokit, logLevel: "fatal" });
  probot.onAny(({ id, name, payload }) => {
    try {
      receive(id, name, payload);
    } catch (error) {
      options.log.error(`a delivery of ${name} could not be read: ${messageOf(error)}`);
    }
  });
  return createNodeMiddleware(() => {}, { probot });
}

async function listen(options: BotOptions, middleware: Middleware, pending: () => number) {
  const server = createServer(async (request, response) => {
    if (request.method === "GET" && request.url === "/health") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: "ok", pending: pending() }));
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
