import { readFileSync } from "node:fs";
import { z } from "zod";
import { removeLeftovers } from "../adapters/process/leftovers.js";
import { parseOperatorConfig } from "../config/operator.js";
import { CrunchError } from "../errors.js";
import { createRedactor, secretsIn } from "../redact.js";
import { renderConfigProblems } from "../render/config-problems.js";
import { startBot } from "./bot.js";
import { createLog } from "./log.js";

const Settings = z.object({
  APP_ID: z.coerce.number().int().positive(),
  PRIVATE_KEY: z.string().optional(),
  PRIVATE_KEY_PATH: z.string().optional(),
  WEBHOOK_SECRET: z.string().min(1),
  CRUNCH_OPERATOR_FILE: z.string().optional(),
  CRUNCH_ALLOWED_BOTS: z.string().default(""),
  CRUNCH_MAX_SESSIONS: z.coerce.number().int().min(1).max(100).default(4),
  CRUNCH_SWEEP_MINUTES: z.coerce.number().min(0).max(1440).default(5),
  CRUNCH_INSTANCE: z.string().optional(),
  CRUNCH_LOG: z.enum(["text", "json"]).default("text"),
  GITHUB_API_URL: z.string().default("https://api.github.com"),
  HOST: z.string().default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
});

/** Runs the bot until it is told to stop. Its settings are environment variables: docs/bot.md lists them. */
export async function runBot(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = readSettings(env);
  const privateKey = readPrivateKey(settings);
  const operator = readOperatorFile(settings.CRUNCH_OPERATOR_FILE);
  const secretsOfAgents = Object.values(operator.agents).flatMap((agent) => secretsIn(agent.env));
  const redact = createRedactor([privateKey, settings.WEBHOOK_SECRET, ...secretsIn(env), ...secretsOfAgents]);
  const log = createLog(settings.CRUNCH_LOG, redact);
  const left = await removeLeftovers();
  if (left.folders > 0)
    log.info(`cleared away what a killed process left: ${left.agents} agents, ${left.folders} folders`);
  const bot = await startBot({
    appId: settings.APP_ID,
    privateKey,
    webhookSecret: settings.WEBHOOK_SECRET,
    apiUrl: settings.GITHUB_API_URL,
    host: settings.HOST,
    port: settings.PORT,
    operator,
    allowedBots: settings.CRUNCH_ALLOWED_BOTS.split(/[\s,]+/).filter((login) => login !== ""),
    maxSessions: settings.CRUNCH_MAX_SESSIONS,
    sweepMinutes: settings.CRUNCH_SWEEP_MINUTES,
    redact,
    log,
  });
  log.info(`listening for webhooks at ${bot.url}/api/github/webhooks`, { event: "listening", url: bot.url });
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  log.info("stopping; unfinished runs go on at the next start", { event: "stopping" });
  await bot.close();
}

function readSettings(env: NodeJS.ProcessEnv): z.infer<typeof Settings> {
  const parsed = Settings.safeParse(env);
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map(({ path, message }) => `${String(path[0])} (${message})`);
  throw new CrunchError({
    code: "bot_settings",
    message: `The bot's environment is not complete: ${wrong.join("; ")}.`,
    hint: "Set APP_ID, PRIVATE_KEY or PRIVATE_KEY_PATH, and WEBHOOK_SECRET of your GitHub App. docs/bot.md lists all.",
  });
}

function readPrivateKey({ PRIVATE_KEY, PRIVATE_KEY_PATH }: z.infer<typeof Settings>): string {
  if (PRIVATE_KEY) return PRIVATE_KEY.replaceAll("\\n", "\n");
  if (PRIVATE_KEY_PATH) return readFileSync(PRIVATE_KEY_PATH, "utf8");
  throw new CrunchError({
    code: "bot_settings",
    message: "The bot has no private key.",
    hint: "Set PRIVATE_KEY to the App's key, or PRIVATE_KEY_PATH to the file that holds it.",
  });
}

/** Without a file nothing may run on this host, and every label is answered with how to change that. */
function readOperatorFile(path: string | undefined) {
  if (path === undefined) return { agents: {}, commands: [] };
  const parsed = parseOperatorConfig(readFileSync(path, "utf8"), path);
  if (parsed.status === "ok") return parsed.config;
  throw new CrunchError({
    code: "operator_file_invalid",
    message: renderConfigProblems(parsed.problems),
    hint: "Correct the file that CRUNCH_OPERATOR_FILE names, then start the bot again.",
  });
}
