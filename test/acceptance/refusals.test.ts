import { describe, expect } from "vitest";
import { agentPhases, expectOneOfEverything, names, scenario, scriptedConfig, type World } from "./world.js";

const allowing = { botEnv: { CRUNCH_ALLOWED_BOTS: "github-actions[bot]" } };
const manual = { config: `advance: manual\n${scriptedConfig}` };
const broken = { config: "agent: scripted\nadvance: later\nphasess: {}\n" };
const notAllowed = { config: scriptedConfig.replace("[node, check.mjs]", "[node, check.mjs, --fix]") };

/** Nothing was begun, and the storage branch does not exist. */
async function expectNoRun(world: World, issue: number): Promise<void> {
  expect(world.phasesRun()).toEqual([]);
  expect(await world.headOf(`crunch/issue-${issue}`)).toBeNull();
  expect(await world.pulls()).toEqual([]);
}

async function finished(world: World, issue: number): Promise<void> {
  await world.label(issue, "state:enrich");
  await world.idle();
  await expectOneOfEverything(world, issue);
}

describe.concurrent("one happening has one effect", () => {
  scenario("although its delivery comes a hundred times, also to a bot that is new", {}, async (world) => {
    const issue = await world.openIssue();
    await finished(world, issue);
    const before = await world.chainOf(issue);
    const [delivery] = world.deliveriesOf("issues", "labeled");
    for (let times = 0; times < 100; times++) await world.github.redeliver(delivery?.id ?? "");
    world.kill("SIGTERM");
    await world.died();
    await world.startBot();
    await world.github.redeliver(delivery?.id ?? "");
    await world.idle();
    expect(world.phasesRun()).toEqual([...agentPhases]);
    expect(await world.chainOf(issue)).toHaveLength(before.length);
    await expectOneOfEverything(world, issue);
    expect(await world.replies(issue)).toEqual([]);
  });

  scenario(
    "although it comes under many delivery ids, before, while and after it is handled",
    {},
    async (world) => {
      world.hold("enrich");
      const issue = await world.openIssue();
      await world.label(issue, "state:enrich");
      const again = async () => {
        const [delivery] = world.deliveriesOf("issues", "labeled");
        await Promise.all(Array.from({ length: 5 }, () => world.github.deliver("issues", delivery?.payload)));
      };
      await again();
      await world.working("enrich");
      await again();
      world.release("enrich");
      await world.idle();
      await again();
      await world.idle();
      expect(world.phasesRun()).toEqual([...agentPhases]);
      await expectOneOfEverything(world, issue);
      expect(await world.replies(issue)).toEqual([]);
    },
  );

  scenario("and two labels added at once begin one run, of one of them", {}, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, ["state:enrich", "state:validation"]);
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual(["state:done"]);
    expect(await world.sticky(issue)).toContain("Crunch is done");
    const chain = await world.chainOf(issue);
    expect(new Set(chain.map(({ orchestrator_state }) => orchestrator_state.run_id)).size).toBe(1);
    const run = world.phasesRun();
    expect([["validation", "docs"], [...agentPhases]]).toContainEqual(run);
  });

  scenario("and a comment delivered again is answered once", {}, async (world) => {
    const issue = await world.openIssue();
    await world.comment(issue, "/crunch status");
    await world.idle();
    const [delivery] = world.deliveriesOf("issue_comment", "created");
    await world.github.deliver("issue_comment", delivery?.payload);
    await world.idle();
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(1);
    expect(replies[0]).toContain("No run has begun");
  });
});

describe.concurrent("a label", () => {
  scenario("no workflow knows is explained once and left alone", {}, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, "state:shipping");
    await world.label(issue, "bug");
    await world.idle();
    await world.unlabel(issue, "state:shipping");
    await world.label(issue, "state:shipping");
    await world.idle();
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(1);
    expect(replies[0]).toContain("`state:enrich`");
    expect(await world.stateLabels(issue)).toEqual(["state:shipping"]);
    await expectNoRun(world, issue);
  });

  scenario("state:done by a person is taken off again, and told why", {}, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, "state:done");
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual([]);
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(1);
    expect(replies[0]).toContain("`/crunch`");
    await expectNoRun(world, issue);
  });

  scenario("of somebody with triage access is taken off again, with one explanation", {}, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, "state:implementing", "tess");
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual([]);
    await world.label(issue, "state:implementing", "tess");
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual([]);
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(1);
    expect(replies[0]).toMatch(/@tess has triage access.*write access/);
    await expectNoRun(world, issue);
  });

  scenario("that a template sets on an outsider's issue begins nothing", {}, async (world) => {
    const issue = await world.openIssue();
    // GitHub lets nobody without access label an issue; a template does it, and the event is in the outsider's name.
    await world.unheard(() => world.label(issue, "state:enrich"));
    const [delivery] = world.deliveriesOf("issues", "labeled");
    const sender = { login: "rob", type: "User" };
    for (const action of ["opened", "labeled"])
      await world.github.deliver("issues", { ...Object(delivery?.payload), action, sender });
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual([]);
    expect(await world.replies(issue)).toEqual([expect.stringContaining("@rob has read access")]);
    await expectNoRun(world, issue);
  });

  scenario("taken off by somebody with triage access is put back", manual, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, "state:enrich");
    await world.idle();
    await world.unlabel(issue, "state:enrich", "tess");
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual(["state:enrich"]);
    expect(await world.replies(issue)).toHaveLength(1);
    expect(world.phasesRun()).toEqual(["enrich"]);
  });

  scenario("on a closed issue is taken off again, and told why; so is a command", {}, async (world) => {
    const issue = await world.openIssue();
    await world.api.issues.update({ ...names, issue_number: issue, state: "closed" });
    await world.label(issue, "state:enrich");
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual([]);
    await world.comment(issue, "/crunch");
    await world.idle();
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(2);
    for (const reply of replies) expect(reply).toContain("Reopen it");
    await expectNoRun(world, issue);
  });

  scenario("while another phase runs is taken off again, and told why", {}, async (world) => {
    world.hold("enrich");
    const issue = await world.openIssue();
    await world.label(issue, "state:enrich");
    await world.working("enrich");
    await world.label(issue, "state:docs");
    await world.until("it is taken off", async () => (await world.stateLabels(issue)).length === 1);
    expect(await world.stateLabels(issue)).toEqual(["state:enrich"]);
    await world.until("it is explained", async () => (await world.replies(issue)).length === 1);
    expect((await world.replies(issue))[0]).toContain("`enrich` is running");
    world.release("enrich");
    await world.idle();
    await expectOneOfEverything(world, issue);
  });
});

describe.concurrent("a comment", () => {
  scenario(
    "of somebody who may only read is refused once in all, and nothing is written",
    {},
    async (world) => {
      const issue = await world.openIssue();
      for (const body of ["/crunch", "/crunch --checkpoint x", "/crunch status", "/crunch"])
        await world.comment(issue, body, "rob");
      await world.idle();
      const replies = await world.replies(issue);
      expect(replies).toHaveLength(1);
      expect(replies[0]).toContain("@rob has read access");
      expect(await world.stateLabels(issue)).toEqual([]);
      await expectNoRun(world, issue);
    },
  );

  scenario("with a command there is not gets the list of those there are", {}, async (world) => {
    const issue = await world.openIssue();
    await world.comment(issue, "/crunch deploy $(id)");
    await world.idle();
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(1);
    expect(replies[0]).toMatch(/no command `deploy`[\s\S]*`\/crunch --checkpoint \[note\]`/);
    await expectNoRun(world, issue);
  });

  scenario("that only talks about a command, or is edited into one, is no command", {}, async (world) => {
    const issue = await world.openIssue();
    for (const body of ["> /crunch", "```\n/crunch\n```", "Try this:\n/crunch", "`/crunch`", "/crunchy"])
      await world.comment(issue, body);
    const innocent = await world.comment(issue, "What about this?");
    await world.api.issues.updateComment({ ...names, comment_id: innocent, body: "/crunch" });
    await world.idle();
    expect(await world.said(issue)).toEqual([]);
    await expectNoRun(world, issue);
  });

  scenario("of Crunch itself or of another bot is no command, nor is their label", {}, async (world) => {
    const issue = await world.openIssue();
    await world.comment(issue, "/crunch", "github-actions[bot]");
    await world.asCrunch.issues.createComment({ ...names, issue_number: issue, body: "/crunch" });
    await world.label(issue, "state:enrich", "github-actions[bot]");
    await world.idle();
    expect((await world.said(issue)).map(({ body }) => body)).toEqual(["/crunch"]);
    await expectNoRun(world, issue);
  });

  scenario("of a bot on the operator's allow list is a command like any other", allowing, async (world) => {
    const issue = await world.openIssue();
    await world.comment(issue, "/crunch status", "github-actions[bot]");
    await world.idle();
    expect(await world.replies(issue)).toHaveLength(1);
  });
});

describe.concurrent("a configuration", () => {
  scenario(
    "without an agent is answered with the lines to add; then /crunch begins",
    { config: null },
    async (world) => {
      const issue = await world.openIssue();
      await world.label(issue, "state:enrich");
      await world.idle();
      const [reply, ...more] = await world.replies(issue);
      expect(more).toEqual([]);
      expect(reply).toMatch(
        /no agent is configured for `enrich`[\s\S]*```yaml\nagent: scripted[\s\S]*`\/crunch`/,
      );
      await expectNoRun(world, issue);

      await world.push("main", { ".github/crunch.yml": scriptedConfig });
      await world.comment(issue, "/crunch");
      await world.idle();
      await expectOneOfEverything(world, issue);
    },
  );

  scenario(
    "that is not valid names file, line and what was expected, and nothing runs",
    broken,
    async (world) => {
      const issue = await world.openIssue();
      await world.label(issue, "state:enrich");
      await world.idle();
      const [reply, ...more] = await world.replies(issue);
      expect(more).toEqual([]);
      expect(reply).toMatch(
        /\.github\/crunch\.yml:2:\d+: advance: expected "auto" or "manual", found the text "later"/,
      );
      expect(reply).toMatch(/\.github\/crunch\.yml:3:\d+: .*"phasess".*Did you mean "phases"\?/);
      expect(reply).toContain("`/crunch`");
      await expectNoRun(world, issue);
    },
  );

  scenario(
    "that names an agent the operator does not offer runs nothing",
    { config: "agent: mine\n" },
    async (world) => {
      const issue = await world.openIssue();
      await world.label(issue, "state:enrich");
      await world.idle();
      const replies = await world.replies(issue);
      expect(replies).toHaveLength(1);
      expect(replies[0]).toMatch(/agent `mine` is not one of this bot's.*`scripted`[\s\S]*GitHub Action/);
      await expectNoRun(world, issue);
    },
  );

  scenario("with a gate command the operator did not allow runs nothing", notAllowed, async (world) => {
    const issue = await world.openIssue();
    await world.label(issue, "state:enrich");
    await world.idle();
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(1);
    expect(replies[0]).toMatch(/command `node check.mjs --fix` is not one.*`node check.mjs`/);
    await expectNoRun(world, issue);
  });
});

describe.concurrent("a webhook", () => {
  scenario("with a bad or without a signature is turned away and has no effect", {}, async (world) => {
    const issue = await world.openIssue();
    // A start looks for labels that nobody heard of: let it be over.
    await world.idle();
    // The label is there, but nobody told the bot: only the forged deliveries do.
    await world.unheard(() => world.label(issue, "state:enrich"));
    const [delivery] = world.deliveriesOf("issues", "labeled");
    for (const signature of ["bad", "missing"] as const) {
      const { status } = await world.github.deliver("issues", delivery?.payload, { signature });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
    await world.idle();
    expect(await world.said(issue)).toEqual([]);
    await expectNoRun(world, issue);
  });
});
