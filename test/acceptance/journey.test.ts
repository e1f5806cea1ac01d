import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { sampleFiles, sampleIssue } from "../../src/entry/start/sample.js";
import { unattended } from "../builders.js";
import { agentPhases, botLogin, expectReplay, names, scenario, stickyMarker } from "./world.js";

const sample = { config: null, files: sampleFiles(), issue: sampleIssue() };
const mostRequests = 70;

describe("a labelled issue", () => {
  scenario("goes through every phase to state:done, and everything shown agrees", sample, async (world) => {
    await world.idle();
    const issue = await world.openIssue();
    await world.label(issue, "state:enrich");
    await world.until("the issue is done", async () =>
      (await world.stateLabels(issue)).includes("state:done"),
    );
    await world.idle();

    expect(await world.stateLabels(issue)).toEqual(["state:done"]);
    const said = await world.said(issue);
    expect(said.map(({ body }) => body.split("\n")[0])).toEqual([stickyMarker]);
    expect(said[0]?.body).toContain("✅ Crunch is done · 100 %");

    const pulls = await world.pulls();
    expect(pulls.map(({ state, user }) => [state, user?.login])).toEqual([["open", botLogin]]);
    const checks = await world.checks(pulls[0]?.head.sha ?? "");
    expect(checks.map(({ name, conclusion }) => `${name}: ${conclusion}`).sort()).toEqual([
      "crunch / docs: success",
      "crunch / spec: success",
      "crunch / tests: success",
      "crunch / validation report: success",
    ]);

    const chain = await world.chainOf(issue);
    for (const phase of agentPhases) {
      const own = chain.filter((each) => each.workflow_state.current_phase === phase);
      expect(own.map(({ type, outcome }) => `${phase} ${type} ${outcome}`)).toEqual([
        `${phase} PRE null`,
        `${phase} POST succeeded`,
      ]);
    }
    expectReplay(chain, unattended);
    // What is left out takes no checkpoint of its own.
    expect(chain[1]?.orchestrator_state.phases.ready?.status).toBe("skipped");
    expect(chain[1]?.note).toBe("no approval is required in this repo");
    expect(chain.at(-1)?.issue_snapshot.head_sha).toBe(pulls[0]?.head.sha);
    // No workspace and no file of the agent is left on the bot's host.
    expect(readdirSync(join(world.dir, "tmp"))).toEqual([]);
  });

  scenario("is fixed for real: the pull request's code passes the tests", sample, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, "state:enrich");
    await world.until("a pull request is open", async () => (await world.pulls()).length === 1);
    await world.idle();
    const [pull] = await world.pulls();
    const fixed = await world.fileAt("src/parse-duration.mjs", pull?.head.sha ?? "");
    expect(fixed).not.toBeNull();
    const module: unknown = await import(`data:text/javascript,${encodeURIComponent(fixed ?? "")}`);
    expect(module).toMatchObject({ parseDuration: expect.any(Function) });
    const { parseDuration } = module as { parseDuration(text: string): number };
    expect(parseDuration("1h30m")).toBe(5_400_000);
    expect(await world.fileAt("src/parse-duration.mjs", "main")).not.toBe(fixed);
    expect(pull?.body).toContain(`Closes #${issue}`);
  });

  scenario("has its checkpoints on an orphan branch whose latest resolves", {}, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, "state:enrich");
    await world.idle();
    const { git } = world.api;
    const branch = `crunch/issue-${issue}`;
    const mainTip = await world.headOf("main");
    const seen = new Set<string>();
    let roots = 0;
    // First parents only: the second ones keep the agent's code reachable, and lead to main.
    for (let sha = await world.headOf(branch); sha !== null && sha !== undefined; ) {
      seen.add(sha);
      const { data } = await git.getCommit({ ...names, commit_sha: sha });
      expect(data.message).toContain("[skip ci]");
      if (data.parents.length === 0) roots++;
      sha = data.parents[0]?.sha ?? null;
    }
    expect(roots).toBe(1);
    expect(seen).not.toContain(mainTip);

    const chain = await world.chainOf(issue);
    expect(seen.size).toBe(chain.length);
    const tree = await git.getTree({
      ...names,
      tree_sha: (await world.headOf(branch)) ?? "",
      recursive: "1",
    });
    const folder = `.claude/crunch/${issue}`;
    const latest = tree.data.tree.find(({ path }) => path === `${folder}/checkpoints/latest`);
    expect(latest?.mode).toBe("120000");
    const blob = await git.getBlob({ ...names, file_sha: latest?.sha ?? "" });
    const target = Buffer.from(blob.data.content, "base64").toString();
    expect(target).toBe(`${chain.at(-1)?.checkpoint_id}.yaml`);
    const paths = tree.data.tree.map(({ path }) => path);
    expect(paths).toContain(`${folder}/checkpoints/${target}`);
    for (const file of ["spec.md", "validation.md", "docs.md", "notes/scripted.md"])
      expect(paths).toContain(`${folder}/${file}`);
    expect(paths.filter((path) => !path?.startsWith(".claude"))).toEqual([]);
  });

  scenario(`costs at most ${mostRequests} requests to GitHub`, sample, async (world) => {
    const issue = await world.openIssue();
    await world.idle();
    world.github.requests.reset();
    await world.label(issue, "state:enrich");
    await world.until("it is done", () => world.lines.some(({ status }) => status === "finished"));
    const own = world.github.requests.entries.filter(
      ({ login, path }) => login === botLogin && !path.includes("/codeload"),
    );
    const counts = new Map<string, number>();
    for (const { method, route } of own) {
      const key = `${method} ${route}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const rows = [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([key, n]) => `${String(n).padStart(4)}  ${key}`);
    console.log([`requests of a whole run: ${own.length}`, ...rows].join("\n"));
    expect(own.length).toBeLessThanOrEqual(mostRequests);
  });
});
