import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ncc from "@vercel/ncc";

export const name = "Action: from the start of the process to its first request to GitHub";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const node = process.env.CRUNCH_ACTION_NODE ?? process.execPath;
const rounds = 21;
const limit = 2.5;

/** In turns, so that whatever else the machine does strikes both alike. */
export async function run({ table, promise }) {
  const bundle = join(root, "dist", "index.js");
  if (!existsSync(bundle)) throw new Error("dist/ is missing: run `npm run build:action` first");
  const temporary = mkdtempSync(join(tmpdir(), "crunch-bench-"));
  const server = await listen();
  try {
    const bare = await buildBare(join(temporary, "bare"));
    const env = runnerEnvironment(temporary, server.url);
    const subjects = [
      { name: "one request with getOctokit", file: bare, times: [] },
      { name: "dist/index.js", file: bundle, times: [] },
    ];
    for (const { file } of subjects) await firstRequest(server, file, env);
    for (let round = 0; round < rounds; round++) {
      for (const { file, times } of subjects) times.push(await firstRequest(server, file, env));
    }
    const [base, own] = subjects.map(({ times }) => median(times));
    const ratio = own / base;
    table([
      ["", "median ms", "fastest ms", "slowest ms", "ratio"],
      ...subjects.map(({ name, times }) => [
        name,
        median(times).toFixed(1),
        Math.min(...times).toFixed(1),
        Math.max(...times).toFixed(1),
        (median(times) / base).toFixed(2),
      ]),
    ]);
    const version = execFileSync(node, ["--version"]).toString().trim();
    promise(`at most ${limit} times the bare bundle, in ${rounds} rounds on Node ${version}`, ratio <= limit);
  } finally {
    server.close();
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Starts the bundle and ends it as soon as it has spoken. */
async function firstRequest(server, file, env) {
  const began = performance.now();
  const child = spawn(node, [file], { env, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const silent = exited.then((code) => {
    throw new Error(`${file} ended with ${code} and sent nothing. ${errors}`);
  });
  silent.catch(() => {});
  try {
    await Promise.race([server.nextRequest(), silent]);
    return performance.now() - began;
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
}

/** Takes requests, and never answers. */
async function listen() {
  let arrived = () => {};
  const server = createServer(() => arrived());
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    nextRequest: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function buildBare(folder) {
  process.chdir(root);
  const entry = join(root, "bench", "bare-action.mjs");
  const { code, assets } = await ncc(entry, { cache: false, quiet: true, target: "es2022" });
  mkdirSync(folder, { recursive: true });
  for (const [path, { source }] of Object.entries(assets)) writeFileSync(join(folder, path), source);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "index.js"), code);
  return join(folder, "index.js");
}

function runnerEnvironment(folder, url) {
  const event = join(folder, "event.json");
  const payload = {
    action: "labeled",
    label: { name: "state:enrich" },
    issue: { number: 1, updated_at: "2025-01-14T10:00:00Z", labels: [{ name: "state:enrich" }] },
    sender: { login: "octo", type: "User" },
    repository: { default_branch: "main" },
  };
  writeFileSync(event, JSON.stringify(payload));
  // Looking at the job's checkout comes before the first request, so there has to be one.
  const workspace = join(folder, "workspace");
  execFileSync("git", ["init", "--quiet", workspace]);
  writeFileSync(join(workspace, ".git", "HEAD"), `${"1".repeat(40)}\n`);
  return {
    PATH: process.env.PATH,
    GITHUB_EVENT_NAME: "issues",
    GITHUB_EVENT_PATH: event,
    GITHUB_REPOSITORY: "octo/durations",
    GITHUB_API_URL: url,
    GITHUB_RUN_ID: "1",
    GITHUB_RUN_ATTEMPT: "1",
    GITHUB_ACTOR: "octo",
    GITHUB_WORKSPACE: workspace,
    "INPUT_GITHUB-TOKEN": "token",
    "INPUT_BOT-LOGIN": "github-actions[bot]",
  };
}

function median(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
