import type { AddressInfo } from "node:net";
import { z } from "zod";
import { createGitHubApp, type InstalledRepository } from "../adapters/github/app.js";
import { parseEvent, trustedBots } from "../adapters/github/events.js";
import { thisProcess } from "../adapters/liveness.js";
import type { Dependencies } from "../app/dependencies.js";
import { createEventQueue } from "../app/event-queue.js";
import { createGitHubDependencies } from "../app/github-dependencies.js";
import { handleEvent } from "../app/handle-event.js";
import { createSlots } from "../app/slots.js";
import { createSweep } from "../app/sweep.js";
import type { OperatorConfig } from "../config/operator.js";
import type { CrunchEvent } from "../engine/events.js";
import { type BotServerOptions, startBotServer } from "./bot-server.js";

export interface BotOptions extends Omit<BotServerOptions, "receive" | "pending"> {
  readonly operator: OperatorConfig;
  readonly allowedBots: readonly string[];
  /** How many runs may work at the same time on this machine. */
  readonly maxSessions: number;
  /** How often to look for runs that nobody works on; 0 does it only at the start. */
  readonly sweepMinutes: number;
  readonly redact: (text: string) => string;
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
  const onRetry = (message: string) => log.warn(message);
  const app = createGitHubApp({ ...options, onRetry, signal: stop.signal });
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
      trusted: trustedBots(options.allowedBots),
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
    if (parsed.status !== "event") return;
    const { installation, repository } = Delivery.parse(payload);
    const { name: repo, default_branch: defaultBranch, owner } = repository;
    const installed = { owner: owner.login, repo, defaultBranch, installationId: installation.id };
    const about = `${owner.login}/${repo}#${parsed.event.issue}`;
    queue.submit(deliveryId, about, () => handle(installed, parsed.event));
  }

  const server = await startBotServer({ ...options, receive, pending: () => queue.pending });
  const url = `http://${options.host}:${(server.address() as AddressInfo).port}`;
  const sweep = createSweep({ app, queue, dependenciesOf, handle });
  sweep();
  const sweeps = options.sweepMinutes > 0 ? setInterval(sweep, options.sweepMinutes * 60_000) : undefined;
  return {
    url,
    settled: () => queue.settled(),
    async close() {
      stop.abort();
      clearInterval(sweeps);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, queue.settled()]);
    },
  };
}
