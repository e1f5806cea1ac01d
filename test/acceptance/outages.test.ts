import { describe, expect } from "vitest";
import { agentPhases, expectOneOfEverything, names, scenario, type World } from "./world.js";

const forbidden = {
  ...({ kind: "status", status: 403 } as const),
  body: { message: "GitHub Actions is not permitted to create or approve pull requests." },
};

const over = (world: World, issue: number) =>
  world.until("the run is over", async () => (await world.stateLabels(issue)).includes("state:done"), 40_000);

describe.concurrent("a repo that does not let Crunch open pull requests", () => {
  scenario("gets the work all the same, and a link to open one by hand", {}, async (world) => {
    world.github.faults.add({ match: { method: "POST", path: /\/pulls$/ }, times: 1_000, effect: forbidden });
    const issue = await world.openIssue(["state:enrich"]);
    await over(world, issue);
    await world.idle();
    expect(await world.pulls()).toEqual([]);
    const sticky = await world.sticky(issue);
    expect(sticky).toContain("Crunch is done");
    expect(sticky).toContain("Allow GitHub Actions to create and approve pull requests");
    expect(sticky).toMatch(/\/octo\/durations\/compare\/main\.\.\.feature\/issue-1-[\w-]+\?expand=1/);
    expect(world.phasesRun()).toEqual([...agentPhases]);
  });

  scenario("is shown the one that a person opens meanwhile", {}, async (world) => {
    world.hold("docs");
    world.github.faults.add({ match: { method: "POST", path: /\/pulls$/ }, effect: forbidden, times: 3 });
    const issue = await world.openIssue(["state:enrich"]);
    await world.working("docs");
    world.github.faults.clear();
    const head = (await world.chainOf(issue)).at(-1)?.issue_snapshot.branch ?? "";
    const { data } = await world.api.pulls.create({ ...names, head, base: "main", title: "By hand" });
    world.github.faults.add({ match: { method: "POST", path: /\/pulls$/ }, effect: forbidden, times: 1_000 });
    world.release("docs");
    await over(world, issue);
    await world.idle();
    expect(await world.sticky(issue)).toContain(`**Pull request:** #${data.number}`);
    expect(await world.sticky(issue)).not.toContain("yours to open");
  });
});

describe.concurrent("a GitHub that refuses to show a part", () => {
  const parts: readonly (readonly [string, string, RegExp])[] = [
    ["the checks", "POST", /\/check-runs$/],
    ["the pull request", "POST", /\/pulls$/],
    ["the comment", "POST", /\/issues\/1\/comments$/],
  ];
  for (const [part, method, path] of parts) {
    scenario(`as ${part}: the run goes on, and the log says so`, {}, async (world) => {
      const effect = { kind: "status", status: 410, body: { message: "Not here" } } as const;
      world.github.faults.add({ match: { method, path }, times: 1_000, effect });
      const issue = await world.openIssue(["state:enrich"]);
      await over(world, issue);
      await world.idle();
      expect(world.phasesRun()).toEqual([...agentPhases]);
      expect(world.log).toContain(`${part} could not be shown: Not here`);
    });
  }

  scenario("once: the next step shows it", {}, async (world) => {
    const effect = { kind: "status", status: 422 } as const;
    for (const path of [/\/check-runs$/, /\/issues\/1\/labels$/, /\/issues\/1\/comments$/])
      world.github.faults.add({ match: { method: "POST", path }, effect });
    const issue = await world.openIssue(["state:enrich"]);
    await over(world, issue);
    await world.idle();
    await expectOneOfEverything(world, issue);
  });
});

describe.concurrent("an outage of GitHub after the agent has ended", () => {
  for (const [what, path] of [
    ["code is kept", /\/git\/trees$/],
    ["checkpoint is stored", /\/git\/refs\/heads\/crunch\/issue-1$/],
  ] as const) {
    scenario(`while its ${what}: the work is kept, and the agent not run again`, {}, async (world) => {
      world.hold("implementing");
      const issue = await world.openIssue(["state:enrich"]);
      await world.working("implementing");
      const effect = { kind: "status", status: 503 } as const;
      world.github.faults.add({ match: { path }, times: 7, effect });
      world.release("implementing");
      await over(world, issue);
      await world.idle();
      await expectOneOfEverything(world, issue);
      expect(world.phasesRun()).toEqual([...agentPhases]);
      expect(world.log).toContain("again in 0.5 s");
    });
  }

  scenario(
    "that lost the answer of the commit, and all reads after it: it counts once",
    {},
    async (world) => {
      world.hold("implementing");
      const issue = await world.openIssue(["state:enrich"]);
      await world.working("implementing");
      const path = /\/git\/refs?\/heads\/crunch\/issue-1$/;
      world.github.faults.add({ match: { method: "PATCH", path }, effect: { kind: "lost" } });
      const unreadable = { kind: "status", status: 503 } as const;
      world.github.faults.add({ match: { method: "GET", path }, times: 5, effect: unreadable });
      world.release("implementing");
      await over(world, issue);
      await world.idle();
      await expectOneOfEverything(world, issue);
      expect(world.phasesRun()).toEqual([...agentPhases]);
    },
  );

  scenario("that is a rate limit: a bot that waits for it still stops at once", {}, async (world) => {
    world.hold("implementing");
    const issue = await world.openIssue(["state:enrich"]);
    await world.working("implementing");
    const headers = {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 2400),
    };
    const body = { message: "API rate limit exceeded" };
    world.github.faults.add({
      match: {},
      times: 1e6,
      effect: { kind: "status", status: 403, headers, body },
    });
    world.release("implementing");
    await world.until("it waits", () => /again in 2[34]\d\d s/.test(world.log));
    const began = Date.now();
    world.kill("SIGTERM");
    await world.died();
    expect(Date.now() - began).toBeLessThan(7_000);
    world.github.faults.clear();
    await world.startBot();
    await over(world, issue);
  });
});

describe.concurrent("a bot that looks every second for runs that nobody works on", () => {
  const botEnv = { CRUNCH_SWEEP_MINUTES: "0.02" };

  scenario("takes over from one that is stopped while it runs beside it", { botEnv }, async (world) => {
    world.hold("implementing");
    const issue = await world.openIssue(["state:enrich"]);
    await world.working("implementing");
    const old = world.bots[0];
    await world.startBot();
    await world.idle();
    expect(world.phasesRun()).toEqual(["enrich", "implementing"]);
    old?.kill("SIGTERM");
    await world.working("implementing", 2);
    world.release("implementing");
    await over(world, issue);
    await world.idle();
    await expectOneOfEverything(world, issue);
  });

  scenario("takes over from one that is killed while it runs beside it", { botEnv }, async (world) => {
    world.hold("implementing");
    const issue = await world.openIssue(["state:enrich"]);
    await world.working("implementing");
    const old = world.bots[0];
    await world.startBot();
    await world.idle();
    old?.kill("SIGKILL");
    await world.working("implementing", 2);
    world.release("implementing");
    await over(world, issue);
    await world.idle();
    await expectOneOfEverything(world, issue);
  });

  scenario("finds a label that it was never told of", { botEnv }, async (world) => {
    const issue = await world.openIssue();
    await world.idle();
    await world.unheard(() => world.label(issue, "state:enrich"));
    await over(world, issue);
    await world.idle();
    await expectOneOfEverything(world, issue);
  });

  scenario("asks little about runs that are over, and changes nothing", { botEnv }, async (world) => {
    const issue = await world.openIssue(["state:enrich"]);
    await over(world, issue);
    await world.idle();
    world.github.requests.reset();
    await world.until("it has looked again", () => world.github.requests.count() > 30);
    expect(world.github.requests.entries.filter(({ method }) => method !== "GET")).toEqual([]);
    const aboutIssue = world.github.requests.entries.filter(({ path }) =>
      /\/(comments|check-runs)/.test(path),
    );
    expect(aboutIssue).toEqual([]);
  });
});
