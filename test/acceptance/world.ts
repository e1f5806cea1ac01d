import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { z } from "zod";
import { createGitHubApp } from "../../src/adapters/github/app.js";
import { createGitHubStore } from "../../src/adapters/github/checkpoint-store.js";
import { createClient } from "../../src/adapters/github/client.js";
import { verifyChain } from "../../src/app/verify-chain.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import type { StorageOptions } from "../../src/checkpoint/storage-options.js";
import { type Delivery, type EmbeddedGitHub, startEmbeddedGitHub } from "../../src/embedded-github/index.js";
import { messageOf } from "../../src/errors.js";
import { recordOf, replay } from "../../src/workflow/replay.js";
import type { Workflow } from "../../src/workflow/workflow.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
export const cli = join(root, "lib/entry/cli.js");
export const names = { owner: "octo", repo: "durations" } as const;
export const botLogin = "crunch[bot]";
export const stickyMarker = "<!-- crunch:status -->";
const secret = "the-webhook-secret-of-the-acceptance-tests";

/** What the bot prints with CRUNCH_LOG=json. */
const BotLine = z.looseObject({
  level: z.string(),
  message: z.string(),
  event: z.string().optional(),
  issue: z.number().optional(),
  phase: z.string().optional(),
  status: z.string().optional(),
  kind: z.string().optional(),
  url: z.string().optional(),
});
type BotLine = z.infer<typeof BotLine>;

/** A start of the scripted agent, as it wrote it down itself. */
const Started = z.object({
  agent: z.string(),
  phase: z.string(),
  attempt: z.number(),
  pid: z.number(),
  env: z.record(z.string(), z.string()),
  context: z.looseObject({
    issue: z.looseObject({ title: z.string(), body: z.string() }),
    previous: z.looseObject({ error: z.string().nullable(), notes: z.string().nullable() }),
  }),
});
type Started = z.infer<typeof Started>;

export interface WorldOptions {
  /** `.github/crunch.yml` on main; null: there is none. */
  readonly config?: string | null;
  readonly files?: Readonly<Record<string, string>>;
  /** JavaScript the scripted agent runs before its own work; see `agentScript` for what it can use. */
  readonly agent?: string;
  /** Merged into the definition of the agent `scripted` in the operator's file. */
  readonly operatorAgent?: {
    readonly pass_env?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
  readonly commands?: readonly (readonly string[])[];
  readonly botEnv?: Readonly<Record<string, string>>;
  readonly issue?: { readonly title: string; readonly body: string };
}

/** Where the checkpoints are, where that is not where they are by default. */
export interface Stored {
  readonly branch?: string;
  readonly storage?: Partial<StorageOptions>;
}

/** Passes unless what the agent wrote says that it is broken. */
const checkScript = `import { readFileSync } from "node:fs";
const text = readFileSync("work.txt", "utf8");
console.log(text);
if (text.includes("broken")) { console.error("the work is broken"); process.exit(1); }
`;

export const scriptedConfig = `agent: scripted
phases:
  enrich: { gates: [{ type: output, name: spec, path: spec.md }] }
  implementing: { gates: [{ type: command, name: tests, command: [node, check.mjs] }] }
  validation: { gates: [{ type: output, name: validation report, path: validation.md }] }
  docs: { gates: [{ type: output, name: docs, path: docs.md }] }
`;

export const agentPhases = ["enrich", "implementing", "validation", "docs"] as const;

const agentScript = (custom: string) => `
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
const dir = process.env.TEST_DIR;
const context = JSON.parse(readFileSync(process.env.CRUNCH_CONTEXT, "utf8"));
const { phase, attempt, previous } = context;
const write = (path, text) => { mkdirSync(dirname(path), { recursive: true }); writeFileSync(path, text); };
const output = (name, text) => write(join(process.env.CRUNCH_OUTPUT, name), text);
const result = (value) => writeFileSync(process.env.CRUNCH_RESULT, JSON.stringify(value));
const notes = (text) => appendFileSync(process.env.CRUNCH_NOTES, text);
const fail = (message) => { console.error(message); process.exit(1); };
const report = (message, percent) => appendFileSync(process.env.CRUNCH_PROGRESS, JSON.stringify({ message, percent }) + "\\n");
const saw = (what) => appendFileSync(join(dir, "saw"), JSON.stringify(what) + "\\n");
const textOf = (path) => (existsSync(path) ? readFileSync(path, "utf8") : null);
const rest = async (name) => {
  writeFileSync(join(dir, "at-" + name), "");
  while (existsSync(join(dir, "hold-" + name))) {
    if (existsSync(join(dir, "over"))) process.exit(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const started = { agent: process.argv[2], phase, attempt, pid: process.pid, env: process.env, context };
appendFileSync(join(dir, "journal"), JSON.stringify(started) + "\\n");
await rest(phase);
if (!existsSync(dir)) process.exit(1);
const work = {
  enrich: () => output("spec.md", "# Spec\\n\\nWrite work.txt.\\n"),
  implementing: () => write("work.txt", "fine\\n"),
  validation: () => output("validation.md", "# Validation\\n\\nIt is fine.\\n"),
  docs: () => { write("CHANGELOG.md", "- Fixed.\\n"); output("docs.md", "# Docs\\n\\nThe changelog.\\n"); },
};
notes("- " + phase + "\\n");
result({ summary: "The scripted agent did " + phase + "." });
${custom}
work[phase]();
`;

/** The embedded GitHub with a bot in a process of its own, and people who use them. */
export class World {
  readonly github: EmbeddedGitHub;
  readonly dir: string;
  readonly options: WorldOptions;
  /** All that any bot of this world printed. */
  log = "";
  lines: BotLine[] = [];
  readonly #started: ChildProcess[] = [];
  #bot: { readonly child: ChildProcess; readonly url: string; readonly exited: Promise<void> } | null = null;

  constructor(github: EmbeddedGitHub, dir: string, options: WorldOptions) {
    this.github = github;
    this.dir = dir;
    this.options = options;
  }

  as(login: string) {
    const token = login === "github-actions[bot]" ? this.github.actionsToken : this.github.tokenFor(login);
    return createClient({ baseUrl: this.github.url, token });
  }

  get api() {
    return this.as("octo");
  }

  /** Speaks as the bot itself does. */
  get asCrunch() {
    const { id: appId, privateKey, installationId } = this.github.app;
    return createGitHubApp({ appId, privateKey, apiUrl: this.github.url }).client(installationId);
  }

  async startBot(): Promise<void> {
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      TMPDIR: join(this.dir, "tmp"),
      APP_ID: String(this.github.app.id),
      PRIVATE_KEY: this.github.app.privateKey,
      WEBHOOK_SECRET: secret,
      GITHUB_API_URL: this.github.url,
      CRUNCH_OPERATOR_FILE: join(this.dir, "operator.yml"),
      CRUNCH_LOG: "json",
      PORT: "0",
      ...this.options.botEnv,
    };
    const child = spawn(process.execPath, [cli, "bot"], { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#started.push(child);
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    let rest = "";
    const url = new Promise<string>((resolve, reject) => {
      void exited.then(() => reject(new Error(`the bot did not start:\n${this.log}`)));
      const read = (chunk: Buffer) => {
        this.log += chunk.toString();
        const parts = (rest + chunk.toString()).split("\n");
        rest = parts.pop() ?? "";
        for (const line of parts.map(readLine).filter((each) => each !== null)) {
          this.lines.push(line);
          if (line.event === "listening" && line.url !== undefined) resolve(line.url);
        }
      };
      child.stdout.on("data", read);
      child.stderr.on("data", (chunk: Buffer) => {
        this.log += chunk.toString();
      });
    });
    this.#bot = { child, url: await url, exited };
    this.#listen();
  }

  /** Every bot that was started, the first one first. */
  get bots(): readonly ChildProcess[] {
    return this.#started;
  }

  #listen(): void {
    if (this.#bot) this.github.setWebhook({ url: `${this.#bot.url}/api/github/webhooks`, secret });
  }

  /** Does something of which GitHub sends the bot no webhook. */
  async unheard(act: () => Promise<unknown>): Promise<void> {
    await this.github.deliveriesSettled();
    this.github.setWebhook(null);
    await act();
    this.#listen();
  }

  /** At once, wherever the bot is: nothing of it gets to clean up. */
  kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): void {
    this.#bot?.child.kill(signal);
  }

  async died(): Promise<void> {
    let isDead = this.#bot === null;
    void this.#bot?.exited.then(() => {
      isDead = true;
    });
    await this.until("the bot is gone", () => isDead);
    this.#bot = null;
  }

  /** Kills the bot as soon as GitHub has carried out the nth such request of it. */
  killAfter(method: string, path: RegExp, nth = 1): void {
    let seen = 0;
    const end = this.github.requests.subscribe((request) => {
      if (request.login !== botLogin || request.method !== method) return;
      if (!path.test(decodeURIComponent(request.path)) || ++seen !== nth) return;
      this.kill();
      end();
    });
  }

  /** The nth such request from now on is neither carried out nor answered; `reached` resolves when it came. */
  hangAt(method: string, path: RegExp, nth = 1): { reached(): Promise<void> } {
    let seen = 0;
    // The plan asks the pattern about each request, which is how one learns that the request is there.
    const pattern = Object.assign(new RegExp(path), {
      [Symbol.search]: (text: string) => (path.test(text) && ++seen >= nth ? 0 : -1),
    });
    this.github.faults.add({ match: { method, path: pattern }, effect: { kind: "delay", ms: 3_600_000 } });
    return { reached: () => this.until(`${method} ${path} came`, () => seen >= nth) };
  }

  async openIssue(labels: string[] = []): Promise<number> {
    const text = this.options.issue ?? { title: "The work is missing", body: "Please write it." };
    return (await this.api.issues.create({ ...names, ...text, labels })).data.number;
  }

  async label(issue: number, label: string | readonly string[], login = "octo"): Promise<void> {
    await this.as(login).issues.addLabels({ ...names, issue_number: issue, labels: [label].flat() });
  }

  async unlabel(issue: number, name: string, login = "octo"): Promise<void> {
    await this.as(login).issues.removeLabel({ ...names, issue_number: issue, name });
  }

  async comment(issue: number, body: string, login = "octo"): Promise<number> {
    return (await this.as(login).issues.createComment({ ...names, issue_number: issue, body })).data.id;
  }

  async stateLabels(issue: number): Promise<string[]> {
    const { data } = await this.api.issues.get({ ...names, issue_number: issue });
    const all = data.labels.map((label) => (typeof label === "string" ? label : (label.name ?? "")));
    return all.filter((label) => label.startsWith("state:"));
  }

  /** The comments Crunch wrote. */
  async said(issue: number): Promise<{ readonly id: number; readonly body: string }[]> {
    const { data } = await this.api.issues.listComments({ ...names, issue_number: issue, per_page: 100 });
    return data
      .filter(({ user }) => user?.login === botLogin)
      .map(({ id, body }) => ({ id, body: body ?? "" }));
  }

  /** The one comment that shows the status. */
  async sticky(issue: number): Promise<string> {
    const found = (await this.said(issue)).filter(({ body }) => body.startsWith(stickyMarker));
    if (found.length !== 1) throw new Error(`expected one sticky comment, found ${found.length}`);
    return found[0]?.body ?? "";
  }

  async replies(issue: number): Promise<string[]> {
    const all = await this.said(issue);
    return all.map(({ body }) => body).filter((body) => !body.startsWith(stickyMarker));
  }

  async pulls() {
    return (await this.api.pulls.list({ ...names, state: "all" })).data;
  }

  async checks(ref: string) {
    return (await this.api.checks.listForRef({ ...names, ref, filter: "all", per_page: 100 })).data
      .check_runs;
  }

  async headOf(branch: string): Promise<string | null> {
    const found = await this.api.git.getRef({ ...names, ref: `heads/${branch}` }).catch(() => null);
    return found?.data.object.sha ?? null;
  }

  async fileAt(path: string, ref: string): Promise<string | null> {
    const found = await this.api.repos.getContent({ ...names, path, ref }).catch(() => null);
    const data = found?.data;
    return data !== undefined && "content" in data ? Buffer.from(data.content, "base64").toString() : null;
  }

  /** The commit's tree and parents. */
  async commit(sha: string): Promise<{ readonly tree: string; readonly parents: readonly string[] }> {
    const { data } = await this.api.git.getCommit({ ...names, commit_sha: sha });
    return { tree: data.tree.sha, parents: data.parents.map((parent) => parent.sha) };
  }

  /** The paths of all files at a commit or branch. */
  async filesAt(ref: string): Promise<string[]> {
    const tree_sha = (await this.headOf(ref)) ?? ref;
    const { data } = await this.api.git.getTree({ ...names, tree_sha, recursive: "1" });
    return data.tree.flatMap(({ type, path }) => (type === "blob" && path !== undefined ? [path] : []));
  }

  /** Commits as somebody with a clone would, and moves the branch there. */
  async push(branch: string, files: Readonly<Record<string, string>>, from?: string): Promise<string> {
    const { git } = this.api;
    const parent = from ?? (await this.headOf(branch)) ?? "";
    const base = await git.getCommit({ ...names, commit_sha: parent });
    const blobs = Object.entries(files).map(([path, content]) => ({
      ...{ path, content, mode: "100644" as const, type: "blob" as const },
    }));
    const tree = await git.createTree({ ...names, base_tree: base.data.tree.sha, tree: blobs });
    const made = { message: "by hand", tree: tree.data.sha, parents: [parent] };
    const { sha } = (await git.createCommit({ ...names, ...made })).data;
    await git.updateRef({ ...names, ref: `heads/${branch}`, sha, force: true });
    return sha;
  }

  /** The checkpoints of an issue, oldest first, read back with every hash and parent checked. */
  async chainOf(issue: number, stored: Stored = {}): Promise<readonly Checkpoint[]> {
    const repository = { octokit: this.api, ...names, defaultBranch: "main" };
    const { branch = "crunch/issue-{issue}", storage = {} } = stored;
    const { chain, problems } = await verifyChain(createGitHubStore(repository, branch, { storage }), issue);
    if (problems.length > 0) throw new Error(`the chain of #${issue} is broken: ${problems.join("; ")}`);
    return chain.index
      .map(({ checkpoint_id: id }) => chain.checkpoints.get(id))
      .filter((each) => each !== undefined);
  }

  /** What the scripted agent was started for, in order. */
  get journal(): readonly Started[] {
    const path = join(this.dir, "journal");
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => Started.parse(JSON.parse(line)));
  }

  phasesRun(): string[] {
    return this.journal.map(({ phase }) => phase);
  }

  /** What the scripted agent said that it saw, in order. */
  get saw(): readonly unknown[] {
    const text = existsSync(join(this.dir, "saw")) ? readFileSync(join(this.dir, "saw"), "utf8") : "";
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** The agent stops in this phase, or where its script says `rest(name)`, until it is released. */
  hold(phase: string): void {
    writeFileSync(join(this.dir, `hold-${phase}`), "");
  }

  /** Resolves when the agent has come to where its script says `rest(name)`. */
  async resting(name: string): Promise<void> {
    await this.until(`the agent rests at ${name}`, () => existsSync(join(this.dir, `at-${name}`)));
  }

  /** Leaves a file for the agent's script to find in `dir`. */
  note(name: string): void {
    writeFileSync(join(this.dir, name), "");
  }

  release(phase: string): void {
    rmSync(join(this.dir, `hold-${phase}`), { force: true });
  }

  /** Resolves when the agent has been started for the phase so many times. */
  async working(phase: string, times = 1): Promise<Started> {
    const starts = () => this.journal.filter((each) => each.phase === phase);
    await this.until(`the agent works on ${phase}`, () => starts().length >= times);
    const found = starts().at(-1);
    if (!found) throw new Error("unreachable");
    return found;
  }

  /** Resolves when so many gates that leave a file `at-gate-<pid>` have begun. */
  async gatesBegun(count: number): Promise<void> {
    const begun = () => readdirSync(this.dir).filter((name) => name.startsWith("at-gate-")).length;
    await this.until(`${count} gates have begun`, () => begun() >= count);
  }

  deliveriesOf(event: string, action: string): readonly Delivery[] {
    return this.github.deliveries.filter((each) => each.event === event && each.action === action);
  }

  /** Delivers a person's comment again, under a delivery id of its own. */
  async redeliverComment(id: number): Promise<void> {
    const Payload = z.looseObject({ comment: z.looseObject({ id: z.number() }) });
    const found = this.deliveriesOf("issue_comment", "created").find(
      ({ payload }) => Payload.parse(payload).comment.id === id,
    );
    await this.github.deliver("issue_comment", found?.payload);
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!(await isSo())) {
      if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s in vain until ${what}`);
      await sleep(20);
    }
  }

  /** Resolves when every webhook has been delivered and the bot has nothing left to do about any. */
  async idle(): Promise<void> {
    await this.until("the bot has nothing to do", async () => {
      const delivered = this.github.deliveries.length;
      await this.github.deliveriesSettled();
      const health = z.object({ pending: z.number() });
      const answer = await fetch(`${this.#bot?.url}/health`).then((response) => response.json());
      return health.parse(answer).pending === 0 && this.github.deliveries.length === delivered;
    });
  }

  /** For the message of a test that fails. */
  async report(issue = 1): Promise<string> {
    const parts = [
      `labels: ${(await this.stateLabels(issue)).join(", ")}`,
      `agent: ${this.journal.map(({ phase, attempt }) => `${phase}#${attempt}`).join(", ")}`,
      ...(await this.said(issue)).map(({ body }) => `comment: ${body}`),
      ...(await this.chainOf(issue)).map(
        ({ checkpoint_id, type, trigger, outcome, error }) =>
          `${checkpoint_id} ${type} ${trigger} ${outcome} ${error?.message ?? ""}`,
      ),
      `log:\n${this.log.slice(-4000)}`,
    ];
    return parts.join("\n");
  }

  async close(): Promise<void> {
    this.github.setWebhook(null);
    // An agent that outlives its bot sees by this that it has to end, or below that the folder is gone.
    this.note("over");
    for (const child of this.#started) child.kill("SIGKILL");
    await this.#bot?.exited;
    await this.github.close();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What a checkpoint says of its run is what its events have made of the one before. */
export function expectReplay(chain: readonly Checkpoint[], workflow: Pick<Workflow, "graph">): void {
  for (const [at, checkpoint] of chain.entries()) {
    const before = chain[at - 1];
    if (!before || checkpoint.trigger === "rollback" || checkpoint.trigger === "pause") continue;
    const replayed = replay(workflow.graph, recordOf(before), checkpoint.events ?? []);
    expect(replayed, checkpoint.checkpoint_id).toEqual(recordOf(checkpoint));
  }
}

/** What must hold of a finished run whatever happened on the way: everything visible is there exactly once. */
export async function expectOneOfEverything(world: World, issue: number): Promise<void> {
  expect(await world.stateLabels(issue)).toEqual(["state:done"]);
  const chain = await world.chainOf(issue);
  const succeeded = chain.filter(({ outcome, trigger }) => outcome === "succeeded" && trigger !== "manual");
  expect(succeeded.map(({ workflow_state }) => workflow_state.current_phase)).toEqual([...agentPhases]);
  expect(await world.sticky(issue)).toContain("Crunch is done");
  const pulls = await world.pulls();
  expect(pulls).toHaveLength(1);
  const head = pulls[0]?.head.sha ?? "";
  expect(head).toBe(chain.at(-1)?.issue_snapshot.head_sha);
  const heads = new Set(
    chain.map(({ issue_snapshot }) => issue_snapshot.head_sha).filter((sha) => sha !== null),
  );
  for (const sha of heads) {
    const runs = (await world.checks(sha)).map(({ name, external_id }) => `${name} ${external_id}`);
    expect(runs).toEqual([...new Set(runs)]);
  }
  const conclusions = (await world.checks(head)).map(({ name, conclusion }) => `${name} ${conclusion}`);
  expect(conclusions.sort()).toEqual([
    "crunch / docs success",
    "crunch / spec success",
    "crunch / tests success",
    "crunch / validation report success",
  ]);
}

async function startWorld(options: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), "crunch-acceptance-"));
  mkdirSync(join(dir, "tmp"));
  const config = options.config === undefined ? scriptedConfig : options.config;
  const github = await startEmbeddedGitHub({
    ...names,
    people: { wim: "write", tess: "triage", rob: "read" },
    files: {
      "README.md": "# Durations\n",
      "check.mjs": checkScript,
      ...(config === null ? {} : { ".github/crunch.yml": config }),
      ...options.files,
    },
  });
  writeFileSync(join(dir, "agent.mjs"), agentScript(options.agent ?? ""));
  const scripted = (name: string) => ({
    command: [process.execPath, join(dir, "agent.mjs"), name],
    ...options.operatorAgent,
    env: { TEST_DIR: dir, ...options.operatorAgent?.env },
  });
  const sample = { command: [process.execPath, join(root, "sample/agent.mjs")] };
  const agents = { scripted: scripted("scripted"), other: scripted("other"), sample };
  const commands = options.commands ?? [
    ["node", "check.mjs"],
    ["node", "--test"],
  ];
  writeFileSync(join(dir, "operator.yml"), JSON.stringify({ agents, commands }));
  const world = new World(github, dir, options);
  await world.startBot();
  return world;
}

/** A test in a world of its own, which says what it looked like when the test fails. */
export function scenario(name: string, options: WorldOptions, body: (world: World) => Promise<void>): void {
  it(name, { timeout: 60_000 }, async () => {
    const world = await startWorld(options);
    try {
      await body(world);
    } catch (error) {
      if (error instanceof Error) error.message += `\n\n${await world.report().catch(messageOf)}`;
      throw error;
    } finally {
      await world.close();
    }
  });
}

function readLine(text: string): BotLine | null {
  try {
    return BotLine.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
