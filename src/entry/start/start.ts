import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import colors from "picocolors";
import { CrunchError } from "../../errors.js";
import { createTerminal, type Terminal } from "../terminal.js";
import { type SampleWorkflow, sampleOwner, sampleRepo, workingPhases } from "./sample.js";
import { type SampleGitHub, startSampleGitHub } from "./sample-github.js";
import { keptAndDoneAgain, summaryTable } from "./summary.js";
import { startWatchedBot } from "./watched-bot.js";

export interface StartOptions {
  readonly once: boolean;
  readonly port: number;
  readonly paceMs: number;
  readonly killIn: string | null;
  readonly workflow: SampleWorkflow;
}

/** Shows the main job on an embedded GitHub, from a label to a pull request. Returns the exit code. */
export async function start(options: StartOptions): Promise<number> {
  refuseUnknownPhase(options);
  const terminal = createTerminal((text) => process.stdout.write(text));
  const folder = mkdtempSync(join(tmpdir(), "crunch-start-"));
  const sample = await startSampleGitHub(options.port, options.workflow);
  try {
    terminal.say(`\n${colors.bold("Crunch")} on an embedded GitHub: ${colors.underline(sample.web)}`);
    terminal.say(
      colors.dim("The agent here is a script, not a model; the work it does on the sample repo is real.\n"),
    );
    return await watchRun(options, sample, folder, terminal);
  } finally {
    await sample.github.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Before anything starts: it would wait for that phase for ever. */
function refuseUnknownPhase({ killIn, workflow }: StartOptions): void {
  const known = workingPhases(workflow);
  if (killIn === null || known.includes(killIn)) return;
  throw new CrunchError({
    code: "unknown_phase",
    message: `No agent works in a phase ${JSON.stringify(killIn)} of ${workflow}.`,
    hint: `Phases to kill the bot in: ${known.join(", ")}.`,
  });
}

async function watchRun(
  options: StartOptions,
  sample: SampleGitHub,
  folder: string,
  terminal: Terminal,
): Promise<number> {
  const { github } = sample;
  const bot = await startWatchedBot({
    ...{ github, folder, paceMs: options.paceMs, killIn: options.killIn },
    onLine: (line) => terminal.log(line, `${github.requests.count()} requests`),
    onKill: (phase, pid) => {
      terminal.warn(colors.yellow(`killed the bot (process ${pid}) with SIGKILL in the middle of ${phase}`));
      terminal.warn(colors.yellow("a new one starts, and finds the run by its checkpoints"));
    },
  });
  try {
    const { number, title } = await sample.openIssue();
    terminal.person(`${sampleOwner} opened ${colors.bold(`#${number} ${title}`)}`);
    const ending = bot.ending(number);
    // The count begins here: what follows is Crunch's own, but for the label itself.
    github.requests.reset();
    await sample.label(number, sample.firstLabel);
    terminal.person(`${sampleOwner} added the label ${colors.bold(sample.firstLabel)}`);
    const ended = await ending;
    const isWhole = await summarize(sample, number, github.requests.count() - 1, options, terminal);
    if (ended.status === "not done") terminal.say(`\n${colors.red(`Not done: ${ended.reason}`)}`);
    if (!options.once) await stayUp(sample, number, terminal);
    return ended.status === "done" && isWhole ? 0 : 1;
  } finally {
    await bot.stop();
  }
}

async function summarize(
  sample: SampleGitHub,
  issue: number,
  requests: number,
  { killIn }: StartOptions,
  terminal: Terminal,
): Promise<boolean> {
  const { chain, problems } = await sample.verify(issue);
  const pull = await sample.pullRequest();
  const table = summaryTable({
    ...{ chain, problems, requests },
    issueUrl: `${sample.web}/issues/${issue}`,
    branchUrl: `${sample.web}/tree/crunch/issue-${issue}`,
    pullRequestUrl: pull === null ? null : `${sample.web}/pull/${pull}`,
  });
  terminal.say(`\n${table}`);
  if (killIn !== null) terminal.say(`\n${keptAndDoneAgain(chain)}`);
  return problems.length === 0 && chain.latest !== null;
}

async function stayUp({ github }: SampleGitHub, issue: number, terminal: Terminal): Promise<void> {
  const api = `${github.url}/repos/${sampleOwner}/${sampleRepo}/issues/${issue}`;
  const curl = (login: string, path: string, body: object) =>
    `  curl -s -o /dev/null -H 'Authorization: token ${github.tokenFor(login)}' ${api}/${path} -d '${JSON.stringify(body)}'`;
  const examples = [
    ["ask where it stands", curl(sampleOwner, "comments", { body: "/crunch status" })],
    [
      "save a checkpoint by hand",
      curl(sampleOwner, "comments", { body: "/crunch --checkpoint before the holidays" }),
    ],
    ["see what a resume would restore", curl(sampleOwner, "comments", { body: "/crunch resume --dry-run" })],
    ["run from a phase on, again", curl(sampleOwner, "labels", { labels: ["state:docs"] })],
    ["somebody who may only read", curl("rita", "comments", { body: "/crunch" })],
  ];
  terminal.say(
    `\n${colors.bold("It stays up.")} Open the issue in a browser, or speak to it; Ctrl+C ends it.\n`,
  );
  for (const [what = "", command = ""] of examples) terminal.say(`${colors.dim(`  # ${what}`)}\n${command}`);
  terminal.say();
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
