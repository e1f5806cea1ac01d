import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { createGitHubStore } from "../../src/adapters/github/checkpoint-store.js";
import { createClient } from "../../src/adapters/github/client.js";
import { type Verified, verifyChain } from "../../src/app/verify-chain.js";
import type { EmbeddedGitHub } from "../../src/embedded-github/index.js";
import { sampleFiles, sampleIssue } from "../../src/entry/start/sample.js";
import { as, github, REPO } from "../embedded-github/world.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const bundle = join(root, "dist/index.js");
export const sampleAgent = join(root, "sample/agent.mjs");
const node = process.env.CRUNCH_ACTION_NODE ?? process.execPath;

const temporary: string[] = [];
afterEach(() => {
  for (const folder of temporary.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "crunch-action-"));
  temporary.push(folder);
  return folder;
}

/** The sample repo, whose own configuration says how to run the sample agent. */
export async function sampleGitHub(changes: object = {}): Promise<EmbeddedGitHub> {
  const output = (name: string, path: string) => ({ gates: [{ type: "output", name, path }] });
  const config = {
    agent: "sample",
    agents: { sample: { command: [process.execPath, sampleAgent], timeout: "2m" } },
    phases: {
      enrich: output("spec", "spec.md"),
      implementing: { gates: [{ type: "command", name: "tests", command: [process.execPath, "--test"] }] },
      validation: output("validation report", "validation.md"),
      docs: output("docs", "docs.md"),
    },
    ...changes,
  };
  const files = {
    ...sampleFiles(),
    // JSON is YAML too.
    ".github/crunch.yml": JSON.stringify(config),
    ".github/workflows/crunch.yml": readFileSync(join(root, "examples/crunch.yml"), "utf8"),
  };
  const gh = await github({ files });
  const opened = await as(gh, gh.tokenFor("octo"))("POST", `${REPO}/issues`, sampleIssue());
  if (opened.status !== 201 || opened.body.number !== 1) throw new Error("issue 1 could not be opened");
  return gh;
}

export interface GitHubEvent {
  readonly name: string;
  readonly payload: unknown;
}

/** What somebody does, and the event by which GitHub would start the workflow. */
export async function did(
  gh: EmbeddedGitHub,
  login: string,
  path: string,
  body: unknown,
): Promise<GitHubEvent> {
  const before = gh.deliveries.length;
  const answer = await as(gh, gh.tokenFor(login))("POST", `${REPO}/${path}`, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  await gh.deliveriesSettled();
  // A job that works meanwhile makes events of its own.
  const [sent, ...others] = gh.deliveries.slice(before).filter(({ payload }) => senderOf(payload) === login);
  if (!sent || others.length > 0) throw new Error(`${1 + others.length} events, not one`);
  return { name: sent.event, payload: sent.payload };
}

function senderOf(payload: unknown): unknown {
  return (payload as { sender?: { login?: unknown } }).sender?.login;
}

export const labels = (gh: EmbeddedGitHub, label: string, login = "octo") =>
  did(gh, login, "issues/1/labels", { labels: [label] });

export const comments = (gh: EmbeddedGitHub, body: string, login = "octo") =>
  did(gh, login, "issues/1/comments", { body });

export interface JobOptions {
  readonly runId?: number;
  readonly attempt?: number;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly workspace?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface JobEnd {
  readonly exitCode: number | null;
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
}

export interface Job {
  readonly ended: Promise<JobEnd>;
  /** Resolves when the log has this text. */
  says(text: string): Promise<void>;
  /** Somebody cancels the run: the runner asks the process to end. */
  cancel(): void;
  /** The machine is gone: the process, and all that the runner would find by its tracking id. */
  kill(): Promise<void>;
}

let lastRunId = 100;

/** Starts the bundle with the environment a runner gives it. */
export function startJob(gh: EmbeddedGitHub, event: GitHubEvent, options: JobOptions = {}): Job {
  const { runId = ++lastRunId, attempt = 1 } = options;
  const folder = newFolder();
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const trackingId = `github_${runId}_${attempt}_${process.pid}`;
  const inputs = {
    "github-token": gh.actionsToken,
    "bot-login": "github-actions[bot]",
    ...options.inputs,
  };
  const temp = join(folder, "temp");
  mkdirSync(temp);
  const outputFile = file("output", "");
  const summaryFile = file("summary", "");
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    TMPDIR: temp,
    RUNNER_TEMP: temp,
    RUNNER_TRACKING_ID: trackingId,
    GITHUB_ACTIONS: "true",
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: file("event.json", JSON.stringify(event.payload)),
    GITHUB_OUTPUT: outputFile,
    GITHUB_STEP_SUMMARY: summaryFile,
    GITHUB_API_URL: gh.url,
    GITHUB_REPOSITORY: `${gh.owner}/${gh.repo}`,
    GITHUB_RUN_ID: String(runId),
    GITHUB_RUN_ATTEMPT: String(attempt),
    GITHUB_ACTOR: "octo",
    GITHUB_WORKSPACE: options.workspace ?? newFolder(),
    ...Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
    ),
    ...options.env,
  };
  gh.setRunnerRun(runId, "in_progress");
  const child = spawn(node, [bundle], { env, cwd: env.GITHUB_WORKSPACE, stdio: ["ignore", "pipe", "pipe"] });
  const log = followLog(child);
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const ended = exited.then((exitCode) => {
    gh.setRunnerRun(runId, "completed");
    const outputs = readOutputs(readFileSync(outputFile, "utf8"));
    return { exitCode, log: log.text(), outputs, summary: readFileSync(summaryFile, "utf8") };
  });
  return {
    ended,
    says: (text) =>
      Promise.race([
        log.says(text),
        ended.then((end) => {
          if (!end.log.includes(text)) throw new Error(`it ended and never said "${text}":\n${end.log}`);
        }),
      ]),
    cancel: () => void child.kill("SIGINT"),
    async kill() {
      child.kill("SIGKILL");
      endOrphans(trackingId);
      await ended;
    },
  };
}

export const runJob = (gh: EmbeddedGitHub, event: GitHubEvent, options: JobOptions = {}): Promise<JobEnd> =>
  startJob(gh, event, options).ended;

function followLog(child: ChildProcess) {
  let text = "";
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      for (const each of waiting) if (text.includes(each.text)) each.resolve();
    });
  }
  return {
    text: () => text,
    says: (wanted: string) =>
      new Promise<void>((resolve) => {
        if (text.includes(wanted)) resolve();
        else waiting.push({ text: wanted, resolve });
      }),
  };
}

/** As the Actions runner does at the end of a job. */
function endOrphans(trackingId: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const env = readFileSync(`/proc/${pid}/environ`, "utf8");
      if (env.split("\0").includes(`RUNNER_TRACKING_ID=${trackingId}`)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It ended meanwhile, or is somebody else's.
    }
  }
}

function readOutputs(text: string): Record<string, string> {
  const found = text.matchAll(/^([\w-]+)<<(ghadelimiter_\S+)\n([\s\S]*?)\n?\2$/gm);
  return Object.fromEntries([...found].map(([, name = "", , value = ""]) => [name, value]));
}

export async function chainOf(gh: EmbeddedGitHub): Promise<Verified> {
  const octokit = createClient({ baseUrl: gh.url, token: gh.tokenFor("octo") });
  const repository = { octokit, owner: gh.owner, repo: gh.repo, defaultBranch: "main" };
  return verifyChain(createGitHubStore(repository, "crunch/issue-{issue}"), 1);
}

/** The phases that have ended well, once for each time they did. */
export function succeeded({ chain }: Verified): string[] {
  return chain.index.flatMap(({ checkpoint_id: id }) => {
    const checkpoint = chain.checkpoints.get(id);
    const isEnd = checkpoint?.type === "POST" && checkpoint.outcome === "succeeded";
    return isEnd && checkpoint.trigger === "phase_transition"
      ? [checkpoint.workflow_state.current_phase]
      : [];
  });
}

export const agentPhases = ["enrich", "implementing", "validation", "docs"];

/** What a person sees of issue 1. */
export async function seen(gh: EmbeddedGitHub) {
  const get = async (path: string) => (await as(gh, gh.tokenFor("octo"))("GET", `${REPO}/${path}`)).body;
  const [issue, comments, pulls] = await Promise.all([
    get("issues/1"),
    get("issues/1/comments"),
    get("pulls?state=all"),
  ]);
  const head: string | undefined = pulls[0]?.head.sha;
  const checks = head === undefined ? [] : (await get(`commits/${head}/check-runs`)).check_runs;
  return {
    stateLabels: names(issue.labels).filter((name) => name.startsWith("state:")),
    bodies: bodiesOf(comments),
    pulls: pulls as readonly { readonly number: number; readonly title: string }[],
    checks: (checks as readonly { name: string; conclusion: string }[])
      .map(({ name, conclusion }) => `${name}: ${conclusion}`)
      .sort(),
  };
}

function names(labels: readonly { readonly name: string }[]): string[] {
  return labels.map(({ name }) => name);
}

function bodiesOf(comments: readonly { readonly body: string }[]): string[] {
  return comments.map(({ body }) => body);
}
