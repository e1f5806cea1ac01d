import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { EmbeddedGitHub } from "../../embedded-github/index.js";
import { messageOf } from "../../errors.js";
import type { LogLine } from "../log.js";
import { type BotProcess, startBotProcess } from "./bot-process.js";
import { sampleOperatorFile } from "./sample.js";

type Ending = { readonly status: "done" } | { readonly status: "not done"; readonly reason: string };

export interface WatchedBotOptions {
  readonly github: EmbeddedGitHub;
  /** A folder for what it needs, removed by the caller. */
  readonly folder: string;
  readonly paceMs: number;
  /** The phase in whose middle the process is killed, once; null for none. */
  readonly killIn: string | null;
  readonly onLine: (line: LogLine) => void;
  readonly onKill: (phase: string, pid: number) => void;
}

export interface WatchedBot {
  /** How the run of an issue ended. */
  ending(issue: number): Promise<Ending>;
  stop(): Promise<void>;
}

const patienceMs = 5 * 60_000;
/** An agent that has reported so often is in the middle of its work. */
const midway = 3;

/** A start looks for unfinished runs first; after that, all it does is about the sample's issue. */
async function untilIdle(bot: BotProcess | null): Promise<void> {
  for (let tries = 0; bot && tries < 200; tries++) {
    const health = await fetch(`${bot.url}/health`);
    if (z.object({ pending: z.number() }).parse(await health.json()).pending === 0) return;
    await delay(20);
  }
}

/** The bot as a process of its own, started again after it was killed. */
export async function startWatchedBot(options: WatchedBotOptions): Promise<WatchedBot> {
  const { github } = options;
  const secret = randomBytes(16).toString("hex");
  const operatorFile = join(options.folder, "operator.yml");
  writeFileSync(operatorFile, sampleOperatorFile(options.paceMs));
  const env = {
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: secret,
    GITHUB_API_URL: github.url,
    CRUNCH_OPERATOR_FILE: operatorFile,
  };
  const listeners = new Set<(issue: number, ending: Ending) => void>();
  const tell = (issue: number, ending: Ending) => {
    for (const listener of listeners) listener(issue, ending);
  };
  let steps = 0;
  let killIn = options.killIn;
  let bot: BotProcess | null = null;

  function onLine(line: LogLine): void {
    options.onLine(line);
    if (line.event === "progress" && line.phase === killIn && ++steps === midway)
      void killAndStart(line.phase);
    if (line.event === "handled" && line.issue !== undefined && line.status !== "ignored") {
      const reason = line.message;
      tell(line.issue, line.status === "finished" ? { status: "done" } : { status: "not done", reason });
    }
  }

  async function launch(): Promise<void> {
    const onDeath = (how: string) => tell(0, { status: "not done", reason: `the bot died: ${how}` });
    bot = await startBotProcess({ env, onLine, onDeath });
    github.setWebhook({ url: `${bot.url}/api/github/webhooks`, secret });
  }

  async function killAndStart(phase: string): Promise<void> {
    killIn = null;
    const pid = bot?.pid ?? 0;
    await bot?.kill("SIGKILL");
    options.onKill(phase, pid);
    await launch().catch((error: unknown) => tell(0, { status: "not done", reason: messageOf(error) }));
  }

  await launch();
  await untilIdle(bot);
  return {
    ending: (issue) =>
      new Promise((resolve) => {
        const tooLong = { status: "not done", reason: "it took more than five minutes" } as const;
        const timer = setTimeout(() => resolve(tooLong), patienceMs);
        // Issue 0 stands for all of them: the bot itself is gone.
        listeners.add((number, ending) => {
          if (number !== issue && number !== 0) return;
          clearTimeout(timer);
          resolve(ending);
        });
      }),
    async stop() {
      github.setWebhook(null);
      await bot?.kill("SIGTERM");
    },
  };
}
