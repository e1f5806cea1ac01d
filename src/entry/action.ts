import { resolve } from "node:path";
import * as core from "@actions/core";
import { createClient } from "../adapters/github/client.js";
import type { Repository } from "../adapters/github/repository.js";
import { checkoutHead } from "../adapters/workspace/checkout-head.js";
import { createGitHubDependencies } from "../app/github-dependencies.js";
import { handleEvent } from "../app/handle-event.js";
import type { Outcome } from "../app/outcome.js";
import { createSlots } from "../app/slots.js";
import { CrunchError, messageOf } from "../errors.js";
import { createRedactor, secretsIn } from "../redact.js";
import { eventOf, trusted } from "./action-event.js";
import { relay } from "./action-relay.js";
import { report } from "./action-report.js";
import {
  input,
  type Payload,
  type Runner,
  readPayload,
  readRunner,
  readToken,
  say,
} from "./action-runner.js";
import { sweep } from "./action-sweep.js";

export async function run(signal: AbortSignal): Promise<void> {
  const runner = readRunner();
  const token = readToken();
  const payload = readPayload(runner);
  const parsed = eventOf(runner, payload);
  if (parsed.status === "ignored") return report({ status: "ignored", reason: parsed.reason });
  const redact = createRedactor([token, ...secretsIn(process.env)]);
  const [repository, checkout] = await Promise.all([
    openRepository(runner, payload, token, signal),
    findCheckout(runner),
  ]);
  const dependencies = createGitHubDependencies({
    repository,
    ownLogin: input("bot-login"),
    trusted: trusted(runner, parsed),
    authority: { kind: "repo" },
    holder: { kind: "actions", run_id: runner.GITHUB_RUN_ID, run_attempt: runner.GITHUB_RUN_ATTEMPT },
    slots: createSlots(1),
    log: {
      info: (message) => say(redact(message)),
      warn: (message) => core.warning(redact(message)),
      error: (message) => core.error(redact(message)),
    },
    ...{ redact, signal, checkout },
  });
  const goOnLater = (outcome: Outcome) =>
    relay(dependencies, repository, runner.GITHUB_WORKFLOW_REF, outcome);
  if (parsed.status === "sweep") return sweep(dependencies, goOnLater);
  const outcome = await handleEvent(dependencies, parsed.event);
  await report(outcome, await goOnLater(outcome));
}

async function openRepository(
  runner: Runner,
  payload: Payload,
  token: string,
  signal: AbortSignal,
): Promise<Repository> {
  const [owner = "", repo = ""] = runner.GITHUB_REPOSITORY.split("/");
  const octokit = createClient({
    baseUrl: runner.GITHUB_API_URL,
    token,
    onRetry: say,
    signal,
  });
  const fromPayload = payload.repository?.default_branch;
  const defaultBranch = fromPayload ?? (await octokit.repos.get({ owner, repo })).data.default_branch;
  return { octokit, owner, repo, defaultBranch };
}

/** The agent works in the job's checkout when there is one: its dependencies may be installed there. */
async function findCheckout({ GITHUB_WORKSPACE }: Runner) {
  const chosen = input("working-directory");
  if (chosen === "" && GITHUB_WORKSPACE === "") return null;
  const directory = resolve(GITHUB_WORKSPACE, chosen);
  const head = await checkoutHead(directory);
  if (head.status === "holds a credential") throw credentialInCheckout();
  return head.status === "at" ? { directory, sha: head.sha } : null;
}

/** A job that runs into its limit is killed without a word: so the session ends itself before that. */
function timeLimitMs(): number {
  const minutes = Number(input("time-limit-minutes") || 345);
  if (minutes > 0 && minutes <= 35_000) return minutes * 60_000;
  throw new CrunchError({
    code: "time_limit_invalid",
    message: `The input time-limit-minutes is ${JSON.stringify(input("time-limit-minutes"))}.`,
    hint: "Give a number of minutes, somewhat less than the job's timeout-minutes.",
  });
}

/** Agents hold no write token (law 6), and one in `.git/config` is one they hold. */
function credentialInCheckout(): CrunchError {
  return new CrunchError({
    code: "credential_in_checkout",
    message: "The job's checkout keeps a token in its git configuration, where an agent could read it.",
    hint: "Set `persist-credentials: false` on the step that uses actions/checkout.",
  });
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
try {
  setTimeout(() => stop.abort("session_end"), timeLimitMs()).unref();
  await run(stop.signal);
} catch (error) {
  const hint = error instanceof CrunchError ? ` ${error.hint}` : "";
  core.setFailed(`${messageOf(error)}${hint}`);
  if (process.env.CRUNCH_DEBUG && error instanceof Error) core.info(error.stack ?? "");
}
