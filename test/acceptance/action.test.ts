import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { EmbeddedGitHub } from "../../src/embedded-github/index.js";
import { sampleFiles } from "../../src/entry/start/sample.js";
import { as, REPO } from "../embedded-github/world.js";
import {
  agentPhases,
  chainOf,
  comments,
  did,
  type GitHubEvent,
  labels,
  newFolder,
  runJob,
  sampleAgent,
  sampleGitHub,
  seen,
  startJob,
  succeeded,
} from "./action-world.js";

const tarballs = (gh: EmbeddedGitHub) =>
  gh.requests.entries.filter(({ path }) => path.includes("/tarball/")).length;
const schedule: GitHubEvent = { name: "schedule", payload: { schedule: "0 4 * * *" } };

const workflowRef = { GITHUB_WORKFLOW_REF: "octo/demo/.github/workflows/crunch.yml@refs/heads/main" };
const slowGitHub = () => {
  const env = { CRUNCH_SAMPLE_PACE_MS: 400 };
  return sampleGitHub({ agents: { sample: { command: [process.execPath, sampleAgent], env } } });
};

describe("the Action", () => {
  it("takes an issue from its label to a pull request with checks, in one job", async () => {
    const gh = await sampleGitHub();
    const job = await runJob(gh, await labels(gh, "state:enrich"));
    expect(job).toMatchObject({ exitCode: 0, outputs: { status: "finished", reason: "", phase: "docs" } });
    const verified = await chainOf(gh);
    expect(verified.problems).toEqual([]);
    expect(succeeded(verified)).toEqual(agentPhases);
    const { stateLabels, bodies, pulls, checks } = await seen(gh);
    expect(stateLabels).toEqual(["state:done"]);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain("Crunch is done");
    expect(pulls).toHaveLength(1);
    expect(job.outputs["pull-request"]).toBe(String(pulls[0]?.number));
    expect(job.outputs["checkpoint-id"]).toBe(verified.chain.latest?.checkpoint_id);
    expect(job.summary).toContain("Crunch is done");
    expect(checks).toEqual([
      "crunch / docs: success",
      "crunch / spec: success",
      "crunch / tests: success",
      "crunch / validation report: success",
    ]);
    expect(tarballs(gh)).toBe(1);
  });

  it("runs phases at the same time, one of them in the checkout and the others beside it", async () => {
    const script = [
      "const { phase, workspace } = JSON.parse(require('fs').readFileSync(0, 'utf8'));",
      "setTimeout(() => require('fs').writeFileSync(phase + '.txt', workspace), 500);",
    ].join(" ");
    const gh = await sampleGitHub({
      workflow: {
        first: "begin",
        phases: {
          begin: { next: ["left", "right"] },
          left: { next: "end" },
          right: { next: "end" },
          end: { type: "terminal" },
        },
      },
      phases: {},
      agents: { sample: { command: [process.execPath, "-e", script] } },
    });
    const job = await runJob(gh, await labels(gh, "state:begin"));
    expect(job, job.log).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    const { chain, problems } = await chainOf(gh);
    expect(problems).toEqual([]);
    const ref = chain.latest?.issue_snapshot.head_sha ?? "";
    const folderOf = async (phase: string) => {
      const { body } = await as(gh, gh.tokenFor("octo"))("GET", `${REPO}/contents/${phase}.txt?ref=${ref}`);
      return Buffer.from(String(body.content), "base64").toString();
    };
    const [begin, left, right] = await Promise.all(["begin", "left", "right"].map(folderOf));
    expect(new Set([left, right]).size).toBe(2);
    expect([left, right]).toContain(begin);
  });

  it("waits for the label of each phase when the repo says so, one job each", async () => {
    const gh = await sampleGitHub({ advance: "manual" });
    for (const phase of agentPhases) {
      const job = await runJob(gh, await labels(gh, `state:${phase}`));
      const isLast = phase === "docs";
      expect(job.exitCode, job.log).toBe(0);
      expect(job.outputs).toMatchObject({ status: isLast ? "finished" : "waiting" });
      expect((await seen(gh)).stateLabels).toEqual([isLast ? "state:done" : `state:${phase}`]);
    }
    const verified = await chainOf(gh);
    expect(verified.problems).toEqual([]);
    expect(succeeded(verified)).toEqual(agentPhases);
    // What Crunch itself did to the labels starts nothing.
    await gh.deliveriesSettled();
    const own = gh.deliveries.filter(({ payload }) => senderOf(payload) === "github-actions[bot]").at(-1);
    const job = await runJob(gh, { name: own?.event ?? "", payload: own?.payload });
    expect(job).toMatchObject({ exitCode: 0, outputs: { status: "ignored" } });
  });

  it("is started by hand with the inputs of its workflow", async () => {
    const gh = await sampleGitHub();
    const inputs = { issue: "1", command: "" };
    const event = await did(gh, "octo", "actions/workflows/crunch.yml/dispatches", { ref: "main", inputs });
    expect(await runJob(gh, event)).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    expect(succeeded(await chainOf(gh))).toEqual(agentPhases);
  });

  it("does what its own inputs say, whatever the event", async () => {
    const gh = await sampleGitHub();
    const asked = await runJob(gh, schedule, { inputs: { issue: "1", command: "status" } });
    expect(asked).toMatchObject({ exitCode: 0, outputs: { status: "answered" } });
    expect(asked.summary).toContain("No run has begun");
    const ran = await runJob(gh, schedule, { inputs: { issue: "1" } });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    const saved = await runJob(gh, schedule, {
      inputs: { issue: "1", command: "/crunch --checkpoint nightly" },
    });
    expect(saved).toMatchObject({ exitCode: 0, outputs: { status: "saved" } });
    expect((await chainOf(gh)).chain.latest).toMatchObject({ trigger: "manual", note: "nightly" });
  });

  it("works in the job's checkout when there is one", async () => {
    const gh = await sampleGitHub();
    const workspace = await checkout(gh);
    const job = await runJob(gh, await labels(gh, "state:enrich"), { workspace });
    expect(job).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    expect(tarballs(gh)).toBe(0);
    expect(readFileSync(join(workspace, "src/parse-duration.mjs"), "utf8")).toContain("matchAll");
    expect((await seen(gh)).pulls).toHaveLength(1);
  });

  it("takes a folder within the checkout for no checkout", async () => {
    const gh = await sampleGitHub({ advance: "manual" });
    const workspace = await checkout(gh);
    const inputs = { "working-directory": "src" };
    const job = await runJob(gh, await labels(gh, "state:implementing"), { workspace, inputs });
    expect(job.outputs.status).not.toBe("ignored");
    expect(tarballs(gh)).toBe(1);
    expect(readdirSync(join(workspace, "src"))).toEqual(["parse-duration.mjs"]);
  });

  it("does the work once when two jobs begin at the same time", async () => {
    const gh = await sampleGitHub();
    const event = await labels(gh, "state:enrich");
    const jobs = await Promise.all([runJob(gh, event), runJob(gh, event)]);
    expect(jobs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(jobs.map(({ outputs }) => outputs.status).sort()).toEqual(["finished", "ignored"]);
    const verified = await chainOf(gh);
    expect(verified.problems).toEqual([]);
    expect(succeeded(verified)).toEqual(agentPhases);
    const { bodies, pulls } = await seen(gh);
    expect([bodies.length, pulls.length]).toEqual([1, 1]);
  });

  it("goes on from the last checkpoint after its machine was lost", async () => {
    const gh = await sampleGitHub();
    const event = await labels(gh, "state:enrich");
    const first = startJob(gh, event);
    await first.says("implementing: Reading the specification");
    await first.kill();
    const second = await runJob(gh, event);
    expect(second, second.log).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    const verified = await chainOf(gh);
    expect(verified.problems).toEqual([]);
    expect(succeeded(verified)).toEqual(agentPhases);
    expect(verified.chain.latest?.orchestrator_state.phases).toMatchObject({
      enrich: { attempt: 1 },
      implementing: { attempt: 2 },
    });
    const { bodies, pulls, stateLabels } = await seen(gh);
    expect([bodies.length, pulls.length, stateLabels]).toEqual([1, 1, ["state:done"]]);
  });

  it("ends within seconds when it is cancelled, and goes on in the next job", async () => {
    const agents = {
      sample: { command: [process.execPath, sampleAgent], env: { CRUNCH_SAMPLE_PACE_MS: 400 } },
    };
    const gh = await sampleGitHub({ agents });
    const event = await labels(gh, "state:enrich");
    const first = startJob(gh, event);
    await first.says("enrich: Reading the issue");
    const began = Date.now();
    first.cancel();
    expect((await first.ended).exitCode).toBe(1);
    // Actions kills what is left 7.5 s after it has asked.
    expect(Date.now() - began).toBeLessThan(7_000);
    expect(await runJob(gh, event)).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    const verified = await chainOf(gh);
    expect(verified.problems).toEqual([]);
    expect(succeeded(verified)).toEqual(agentPhases);
  });

  it("goes on with all runs that were left in the middle, when a schedule says sweep", async () => {
    const gh = await sampleGitHub();
    const first = startJob(gh, await labels(gh, "state:enrich"));
    await first.says("implementing: Reading the specification");
    const early = await runJob(gh, schedule, { inputs: { command: "sweep" } });
    expect(early, early.log).toMatchObject({ exitCode: 0, outputs: { status: "ignored" } });
    await first.kill();
    const sweep = await runJob(gh, schedule, { inputs: { command: "sweep" } });
    expect(sweep, sweep.log).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    expect(sweep.summary).toContain("## #1");
    expect(succeeded(await chainOf(gh))).toEqual(agentPhases);
    const again = await runJob(gh, schedule, { inputs: { command: "sweep" } });
    expect(again.summary).toContain("no run to go on with");
  });

  it("starts the next job when its time is up, and that one goes on", async () => {
    const gh = await slowGitHub();
    const event = await labels(gh, "state:enrich");
    const inputs = { "time-limit-minutes": "0.03" };
    const job = await runJob(gh, event, { inputs, env: workflowRef });
    expect(job, job.log).toMatchObject({ exitCode: 0, outputs: { status: "interrupted" } });
    expect(job.summary).toContain("The next one has been started");
    expect(gh.workflowDispatches).toMatchObject([
      { workflow: "crunch.yml", ref: "main", inputs: { issue: "1", command: "resume" } },
    ]);
    await gh.deliveriesSettled();
    const sent = gh.deliveries.find(({ event: name }) => name === "workflow_dispatch");
    expect(senderOf(sent?.payload)).toBe("github-actions[bot]");
    const next = await runJob(gh, { name: "workflow_dispatch", payload: sent?.payload });
    expect(next, next.log).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
    expect(succeeded(await chainOf(gh))).toEqual(agentPhases);
  });

  it("says on the issue why the next job could not be started", async () => {
    const gh = await slowGitHub();
    gh.faults.add({
      match: { method: "POST", path: /\/dispatches$/ },
      effect: { kind: "status", status: 403 },
    });
    const inputs = { "time-limit-minutes": "0.03" };
    const job = await runJob(gh, await labels(gh, "state:enrich"), { inputs, env: workflowRef });
    expect(job, job.log).toMatchObject({ exitCode: 0, outputs: { status: "interrupted" } });
    expect(job.summary).toContain("`actions: write`");
    const said = (await seen(gh)).bodies.filter((body) => body.includes("`actions: write`"));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain("`/crunch resume`");
  });

  it("hears a bot that is on the allow list, although GitHub does not tell its access", async () => {
    const gh = await sampleGitHub();
    const { name, payload } = await comments(gh, "/crunch");
    const user = { login: "helper[bot]", type: "Bot" };
    const event = JSON.parse(JSON.stringify(payload));
    const byBot = { name, payload: { ...event, sender: user, comment: { ...event.comment, user } } };
    expect((await runJob(gh, byBot)).outputs).toMatchObject({ status: "ignored" });
    const heard = await runJob(gh, byBot, { inputs: { "allowed-bots": "helper[bot]" } });
    expect(heard, heard.log).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
  });

  it("leaves a run alone whose job is still working", async () => {
    const gh = await sampleGitHub();
    const first = startJob(gh, await labels(gh, "state:enrich"));
    await first.says("enrich begins");
    const other = await runJob(gh, await comments(gh, "/crunch"));
    expect(other).toMatchObject({
      exitCode: 0,
      outputs: { status: "refused", reason: "a session is working on it" },
    });
    expect((await first.ended).outputs.status).toBe("finished");
    expect(succeeded(await chainOf(gh))).toEqual(agentPhases);
  });

  it("fails the job with the reason when a phase fails", async () => {
    const command = [process.execPath, "-e", "console.log('no such luck'); process.exit(3)"];
    const gh = await sampleGitHub({
      phases: { enrich: { gates: [{ type: "command", name: "luck", command }] } },
    });
    const job = await runJob(gh, await labels(gh, "state:enrich"));
    expect(job).toMatchObject({ exitCode: 1, outputs: { status: "failed", phase: "enrich" } });
    expect(job.outputs.reason).toContain("luck");
    expect(job.log).toContain(`::error::${job.outputs.reason}`);
    expect(job.summary).toContain("failed");
    expect((await seen(gh)).stateLabels).toEqual(["state:enrich"]);
  });

  it("fails the job when the configuration is wrong, and says where", async () => {
    const gh = await sampleGitHub({ advanse: "auto" });
    const job = await runJob(gh, await labels(gh, "state:enrich"));
    expect(job).toMatchObject({ exitCode: 1, outputs: { status: "refused" } });
    expect(job.log).toContain("::error::");
    expect(job.outputs.reason).toContain('Did you mean "advance"?');
  });

  it("has nothing to do with talk", async () => {
    const gh = await sampleGitHub();
    const event = await comments(gh, "What would /crunch do here?");
    gh.requests.reset();
    const job = await runJob(gh, event);
    expect(job).toMatchObject({ exitCode: 0, outputs: { status: "ignored" } });
    expect(job.summary).toContain("nothing to do");
    expect(gh.requests.count()).toBe(0);
  });

  it("refuses a person who may only read, and is no failure of the job", async () => {
    const gh = await sampleGitHub();
    const job = await runJob(gh, await comments(gh, "/crunch", "rob"));
    expect(job).toMatchObject({ exitCode: 0, outputs: { status: "refused" } });
    expect(job.outputs.reason).toContain("@rob has read access");
    expect((await chainOf(gh)).chain.index).toEqual([]);
    expect((await seen(gh)).bodies).toHaveLength(2);
  });
});

describe("the Action's environment", () => {
  it("has to have a token", async () => {
    const gh = await sampleGitHub();
    const job = await runJob(gh, schedule, { inputs: { "github-token": "", issue: "1" } });
    expect(job.exitCode).toBe(1);
    expect(job.log).toContain("::error::The input github-token is empty.");
  });

  it("has to be that of a runner", async () => {
    const gh = await sampleGitHub();
    const job = await runJob(gh, schedule, { env: { GITHUB_REPOSITORY: "", GITHUB_EVENT_PATH: "" } });
    expect(job.exitCode).toBe(1);
    expect(job.log).toContain("::error::The environment lacks GITHUB_EVENT_PATH, GITHUB_REPOSITORY.");
  });

  it("may lack the inputs of a dispatch, which is then about no issue", async () => {
    const gh = await sampleGitHub();
    const payload = { inputs: null, sender: { login: "octo" } };
    const job = await runJob(gh, { name: "workflow_dispatch", payload });
    expect(job).toMatchObject({ exitCode: 0, outputs: { status: "ignored" } });
  });

  it("hands no token to the agent, in no variable and no file", async () => {
    const found = newFolder();
    const probe = join(newFolder(), "probe.mjs");
    const copies = ["process.env.CRUNCH_CONTEXT", "process.env.RUNNER_TEMP", "process.cwd()"];
    writeFileSync(
      probe,
      `import { cpSync, writeFileSync } from "node:fs";
       import { dirname } from "node:path";
       const to = ${JSON.stringify(found)};
       writeFileSync(to + "/env.json", JSON.stringify(process.env));
       cpSync(dirname(${copies[0]}), to + "/contract", { recursive: true });
       cpSync(${copies[1]}, to + "/temp", { recursive: true });
       cpSync(${copies[2]}, to + "/workspace", { recursive: true });`,
    );
    const agents = { probe: { command: [process.execPath, probe], pass_env: ["PASSED"] } };
    const gh = await sampleGitHub({ agent: "probe", agents, phases: {}, advance: "manual" });
    const workspace = await checkout(gh);
    const env = { GITHUB_TOKEN: gh.actionsToken, PASSED: "passed on" };
    const job = await runJob(gh, await labels(gh, "state:enrich"), { workspace, env });
    expect(job, job.log).toMatchObject({ exitCode: 0, outputs: { status: "waiting" } });
    const files = filesUnder(found);
    expect(JSON.parse(readFileSync(join(found, "env.json"), "utf8"))).toMatchObject({ PASSED: "passed on" });
    expect(files.some((path) => path.endsWith("workspace/.git/config"))).toBe(true);
    const forms = [gh.actionsToken, Buffer.from(`x-access-token:${gh.actionsToken}`).toString("base64")];
    const leaks = files.filter((path) => forms.some((form) => readFileSync(path).includes(form)));
    expect(leaks).toEqual([]);
    expect(job.log.replace(`::add-mask::${gh.actionsToken}`, "")).not.toContain(gh.actionsToken);
  });

  it.each(["http.https://github.com/.extraheader", "remote.origin.url"])(
    "must not keep a token in the checkout's %s",
    async (key) => {
      const gh = await sampleGitHub();
      const workspace = await checkout(gh);
      const value = key.startsWith("http") ? "AUTHORIZATION: basic eDp5" : "https://x:y@github.com/octo/demo";
      git(workspace, "config", key, value);
      const job = await runJob(gh, await labels(gh, "state:enrich"), { workspace });
      expect(job.exitCode).toBe(1);
      expect(job.log).toContain("persist-credentials: false");
      expect((await chainOf(gh)).chain.index).toEqual([]);
    },
  );
});

it("dist/ is what the sources give", () => {
  const script = fileURLToPath(new URL("../../scripts/build-action.mjs", import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
  expect(stdout + stderr).toBe("dist/ is what the sources give.\n");
});

it("the bundle has neither the bot's framework nor the embedded GitHub in it", () => {
  const licenses = readFileSync(new URL("../../dist/licenses.txt", import.meta.url), "utf8").split("\n");
  expect(licenses).toContain("@octokit/rest");
  expect(licenses).not.toContain("probot");
  expect(licenses).not.toContain("emulate");
});

/** What actions/checkout with `persist-credentials: false` leaves: the default branch's files, at its commit. */
async function checkout(gh: EmbeddedGitHub): Promise<string> {
  const get = as(gh, gh.tokenFor("octo"));
  const workspace = newFolder();
  for (const [path, content] of Object.entries(sampleFiles())) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), content);
  }
  const config = (await get("GET", `${REPO}/contents/.github/crunch.yml`)).body;
  writeFileSync(join(workspace, ".github/crunch.yml"), Buffer.from(config.content, "base64"));
  mkdirSync(join(workspace, ".github/workflows"));
  cpSync(
    new URL("../../examples/crunch.yml", import.meta.url),
    join(workspace, ".github/workflows/crunch.yml"),
  );
  git(workspace, "init", "--quiet");
  git(workspace, "add", "--all");
  // The embedded GitHub serves no git protocol, so the commit is named without being fetched.
  const { object } = (await get("GET", `${REPO}/git/ref/heads/main`)).body;
  writeFileSync(join(workspace, ".git/HEAD"), `${object.sha}\n`);
  return workspace;
}

function git(directory: string, ...args: string[]): void {
  execFileSync("git", ["-C", directory, ...args], { stdio: "pipe" });
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function senderOf(payload: unknown): string {
  const { sender } = payload as { readonly sender?: { readonly login: string } };
  return sender?.login ?? "";
}
