import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import colors from "picocolors";
import { createGitHubStore } from "../../adapters/github/checkpoint-store.js";
import { createClient } from "../../adapters/github/client.js";
import { verifyChain } from "../../app/verify-chain.js";
import { type EmbeddedGitHub, startEmbeddedGitHub } from "../../embedded-github/index.js";
import { type BotLine, startBotProcess } from "./bot-process.js";
import { sampleFiles, sampleIssue, sampleOperatorFile, sampleOwner, sampleRepo } from "./sample.js";
import { summaryTable } from "./summary.js";
import { createTerminal, type Terminal } from "./terminal.js";

export interface StartOptions {
  readonly once: boolean;
  readonly port: number;
  readonly paceMs: number;
}

type Ending = { readonly status: "done" } | { readonly status: "not done"; readonly reason: string };

const patienceMs = 5 * 60_000;

/** Shows the main job on an embedded GitHub, from a label to a pull request. Returns the exit code. */
export async function start(options: StartOptions): Promise<number> {
  const terminal = createTerminal((text) => process.stdout.write(text));
  const temporary = mkdtempSync(join(tmpdir(), "crunch-start-"));
  const owner = { owner: sampleOwner, repo: sampleRepo };
  const github = await startEmbeddedGitHub({
    ...owner,
    port: options.port,
    files: sampleFiles(),
    people: { rita: "read" },
  });
  try {
    terminal.say(
      `\n${colors.bold("Crunch")} on an embedded GitHub: ${colors.underline(`${github.url}/${sampleOwner}/${sampleRepo}`)}`,
    );
    terminal.say(
      colors.dim("The agent here is a script, not a model; the work it does on the sample repo is real.\n"),
    );
    const ended = new Deferred<Ending>();
    const bot = await startBot(
      github,
      temporary,
      options,
      (line) => {
        terminal.bot(line, github.requests.count());
        const ending = endingOf(line);
        if (ending) ended.resolve(ending);
      },
      (how) => ended.resolve({ status: "not done", reason: `the bot died: ${how}` }),
    );
    try {
      const issue = await openIssue(github, terminal);
      const timer = setTimeout(
        () => ended.resolve({ status: "not done", reason: "it took more than five minutes" }),
        patienceMs,
      );
      const ending = await ended.promise;
      clearTimeout(timer);
      const isWhole = await summarize(github, issue, terminal);
      if (ending.status === "not done") terminal.say(`\n${colors.red(`Not done: ${ending.reason}`)}`);
      if (!options.once) await stayUp(github, issue, terminal);
      return ending.status === "done" && isWhole ? 0 : 1;
    } finally {
      github.setWebhook(null);
      await bot.kill("SIGTERM");
    }
  } finally {
    await github.close();
    rmSync(temporary, { recursive: true, force: true });
  }
}

class Deferred<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void = () => {};
  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}

async function startBot(
  github: EmbeddedGitHub,
  temporary: string,
  { paceMs }: StartOptions,
  onLine: (line: BotLine) => void,
  onDeath: (how: string) => void,
) {
  const secret = randomBytes(16).toString("hex");
  const operatorFile = join(temporary, "operator.yml");
  writeFileSync(operatorFile, sampleOperatorFile(paceMs));
  const env = {
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: secret,
    GITHUB_API_URL: github.url,
    CRUNCH_OPERATOR_FILE: operatorFile,
  };
  const bot = await startBotProcess({ env, onLine, onDeath });
  github.setWebhook({ url: `${bot.url}/api/github/webhooks`, secret });
  return bot;
}

/** The first issue's label leads to the end of its run, one way or another. */
function endingOf({ event, kind, status, issue, message }: BotLine): Ending | null {
  if (event !== "handled" || kind !== "labeled" || issue !== 1 || status === "ignored") return null;
  return status === "finished" ? { status: "done" } : { status: "not done", reason: message };
}

function asOwner(github: EmbeddedGitHub) {
  const names = { owner: sampleOwner, repo: sampleRepo };
  return { octokit: createClient({ baseUrl: github.url, token: github.tokenFor(sampleOwner) }), names };
}

async function openIssue(github: EmbeddedGitHub, terminal: Terminal): Promise<number> {
  const { octokit, names } = asOwner(github);
  const { data } = await octokit.issues.create({ ...names, ...sampleIssue() });
  terminal.person(`${sampleOwner} opened ${colors.bold(`#${data.number} ${data.title}`)}`);
  // The count begins here: what follows is Crunch's own.
  github.requests.reset();
  await octokit.issues.addLabels({ ...names, issue_number: data.number, labels: ["state:enrich"] });
  terminal.person(`${sampleOwner} added the label ${colors.bold("state:enrich")}`);
  return data.number;
}

async function summarize(github: EmbeddedGitHub, issue: number, terminal: Terminal): Promise<boolean> {
  // The label itself was the person's request.
  const requests = github.requests.count() - 1;
  const { octokit, names } = asOwner(github);
  const store = createGitHubStore({ octokit, ...names, defaultBranch: "main" }, "crunch/issue-{issue}");
  const { chain, problems } = await verifyChain(store, issue);
  const web = `${github.url}/${sampleOwner}/${sampleRepo}`;
  const pulls = await octokit.pulls.list({ ...names, state: "all" });
  const pull = pulls.data[0]?.number;
  const table = summaryTable({
    ...{ chain, problems, requests },
    issueUrl: `${web}/issues/${issue}`,
    branchUrl: `${web}/tree/crunch/issue-${issue}`,
    pullRequestUrl: pull === undefined ? null : `${web}/pull/${pull}`,
  });
  terminal.say(`\n${table}`);
  return problems.length === 0 && chain.latest !== null;
}

async function stayUp(github: EmbeddedGitHub, issue: number, terminal: Terminal): Promise<void> {
  const api = `${github.url}/repos/${sampleOwner}/${sampleRepo}/issues/${issue}`;
  const curl = (login: string, path: string, body: object) =>
    `  curl -H 'Authorization: token ${github.tokenFor(login)}' ${api}/${path} -d '${JSON.stringify(body)}'`;
  terminal.say(
    `\n${colors.bold("It stays up.")} Open the issue in a browser, or speak to it; Ctrl+C ends it.\n`,
  );
  terminal.say(colors.dim("  # ask where it stands"));
  terminal.say(curl(sampleOwner, "comments", { body: "/crunch status" }));
  terminal.say(colors.dim("  # save a checkpoint by hand"));
  terminal.say(curl(sampleOwner, "comments", { body: "/crunch --checkpoint before the holidays" }));
  terminal.say(colors.dim("  # run from a phase on, again"));
  terminal.say(curl(sampleOwner, "labels", { labels: ["state:docs"] }));
  terminal.say(colors.dim("  # somebody who may only read"));
  terminal.say(`${curl("rita", "comments", { body: "/crunch" })}\n`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
