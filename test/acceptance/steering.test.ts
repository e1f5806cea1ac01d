import { describe, expect } from "vitest";
import { agentPhases, expectOneOfEverything, names, scenario, scriptedConfig, type World } from "./world.js";

const manual = { config: `advance: manual\n${scriptedConfig}` };
const approving = { config: `approval: required\n${scriptedConfig}` };

async function begin(world: World): Promise<number> {
  const issue = await world.openIssue();
  await world.label(issue, "state:enrich");
  return issue;
}

/** The phase's own label, and a bot that has done all it was asked for. */
async function goOnWith(world: World, issue: number, phase: string): Promise<void> {
  await world.label(issue, `state:${phase}`);
  await world.idle();
}

async function codeBranch(world: World): Promise<string> {
  return (await world.pulls())[0]?.head.ref ?? "";
}

describe.concurrent("a person's label", () => {
  scenario("takes the run a phase further where it does not advance by itself", manual, async (world) => {
    const issue = await begin(world);
    await world.idle();
    for (const [phase, next] of [
      ["enrich", "implementing"],
      ["implementing", "validation"],
      ["validation", "docs"],
    ] as const) {
      expect(await world.stateLabels(issue)).toEqual([`state:${phase}`]);
      expect(world.phasesRun().at(-1)).toBe(phase);
      const sticky = await world.sticky(issue);
      expect(sticky).toContain(`\`${phase}\` is done, \`${next}\` waits for its label`);
      expect(sticky).toContain(`add the label \`state:${next}\` to go on`);
      await goOnWith(world, issue, next);
    }
    await expectOneOfEverything(world, issue);
    expect(world.phasesRun()).toEqual([...agentPhases]);
  });

  scenario("approves the specification where approval is required", approving, async (world) => {
    const issue = await begin(world);
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual(["state:ready"]);
    expect(await world.sticky(issue)).toMatch(/`ready` waits for your approval[\s\S]*`state:implementing`/);
    await world.comment(issue, "/crunch");
    await world.idle();
    expect(world.phasesRun()).toEqual(["enrich"]);
    expect((await world.replies(issue)).join()).toContain(
      "to approve, comment `/crunch approve` or add the label `state:implementing`",
    );

    await world.label(issue, "state:implementing", "wim");
    await world.idle();
    await expectOneOfEverything(world, issue);
    const approvals = (await world.chainOf(issue)).filter(({ trigger }) => trigger === "approval");
    expect(approvals.map(({ outcome, note }) => [outcome, note])).toEqual([["approved", "approved by @wim"]]);
  });

  scenario("taken off while a phase runs stops the run after it; put back it goes on", {}, async (world) => {
    world.hold("enrich");
    const issue = await begin(world);
    await world.working("enrich");
    await world.unlabel(issue, "state:enrich");
    world.release("enrich");
    await world.idle();
    expect(world.phasesRun()).toEqual(["enrich"]);
    expect(await world.stateLabels(issue)).toEqual([]);
    const sticky = await world.sticky(issue);
    expect(sticky).toContain("the state label was removed, so nothing runs");
    const wanted = /Add `(state:\w+)` to go on/.exec(sticky)?.[1] ?? "";
    await world.label(issue, wanted);
    await world.idle();
    await expectOneOfEverything(world, issue);
    expect(world.phasesRun()).toEqual([...agentPhases]);
  });

  scenario("of an earlier phase runs that phase and what follows anew", {}, async (world) => {
    const issue = await begin(world);
    await world.idle();
    await goOnWith(world, issue, "validation");
    expect(world.phasesRun()).toEqual([...agentPhases, "validation", "docs"]);
    expect(await world.stateLabels(issue)).toEqual(["state:done"]);
    const versions = (await world.chainOf(issue))
      .filter(({ type, workflow_state }) => type === "POST" && workflow_state.current_phase === "validation")
      .map(({ phase_version, outcome }) => `${phase_version} ${outcome}`);
    expect(versions).toEqual(["1 succeeded", "2 succeeded"]);
    expect(await world.pulls()).toHaveLength(1);
    await world.sticky(issue);
  });

  scenario("of a later phase skips what lies before", {}, async (world) => {
    const issue = await world.openIssue();
    await goOnWith(world, issue, "docs");
    expect(world.phasesRun()).toEqual(["docs"]);
    expect(await world.stateLabels(issue)).toEqual(["state:done"]);
    const { phases } = (await world.chainOf(issue)).at(-1)?.orchestrator_state ?? { phases: {} };
    expect(phases).toMatchObject({ enrich: { status: "skipped" }, docs: { status: "succeeded" } });
  });
});

const brokenAtFirst = {
  agent: `if (phase === "implementing" && previous.error === null) work.implementing = () => write("work.txt", "broken\\n");`,
};
const failingAtFirst = {
  agent: `if (phase === "enrich" && previous.error === null) { result({}); notes("found it\\n"); fail("no idea <b>&"); }`,
};
const tooSlow = {
  config: scriptedConfig.replace("enrich: {", "enrich: { timeout: 0.3,"),
  agent: `if (phase === "enrich") await new Promise((resolve) => setTimeout(resolve, 60_000));`,
};

describe.concurrent("what goes wrong", () => {
  scenario(
    "a gate that fails is a failing check with the reason, and /crunch tries again",
    brokenAtFirst,
    async (world) => {
      const issue = await begin(world);
      await world.idle();
      expect(await world.stateLabels(issue)).toEqual(["state:implementing"]);
      const sticky = await world.sticky(issue);
      expect(sticky).toMatch(/`implementing` failed[\s\S]*Not passed: tests \(node check.mjs: exit code 1\)/);
      expect(sticky).toMatch(/<summary>What tests printed<\/summary>[\s\S]*the work is broken/);
      expect(sticky).toContain("`/crunch`");
      const [pull] = await world.pulls();
      const failing = (await world.checks(pull?.head.sha ?? "")).filter(
        ({ conclusion }) => conclusion === "failure",
      );
      expect(failing.map(({ name }) => name)).toEqual(["crunch / tests"]);
      expect(failing[0]?.output.summary).toContain("the work is broken");

      await world.comment(issue, "/crunch");
      await world.idle();
      await expectOneOfEverything(world, issue);
      expect(world.phasesRun()).toEqual(["enrich", "implementing", "implementing", "validation", "docs"]);
      expect(world.journal[2]?.context.phase_version).toBe(2);
      expect(world.journal[2]?.context.previous.gates).toMatchObject([
        { name: "tests", details: expect.stringContaining("the work is broken") },
      ]);
      expect(world.journal[3]?.context.previous.gates).toEqual([]);
    },
  );

  scenario(
    "an agent that fails is shown with what it printed; the next attempt knows why",
    failingAtFirst,
    async (world) => {
      const issue = await begin(world);
      await world.idle();
      const sticky = await world.sticky(issue);
      expect(sticky).toMatch(/`enrich` failed[\s\S]*exited with code 1[\s\S]*no idea[\s\S]*`\/crunch`/);
      expect(await world.stateLabels(issue)).toEqual(["state:enrich"]);
      expect(await world.pulls()).toEqual([]);

      // A start of the bot is nobody's wish to try again.
      world.kill();
      await world.died();
      await world.startBot();
      await world.idle();
      expect(world.phasesRun()).toEqual(["enrich"]);

      await world.comment(issue, "/crunch");
      await world.idle();
      await expectOneOfEverything(world, issue);
      const second = world.journal[1];
      expect(second?.context.previous.error).toContain("exited with code 1");
      expect(second?.context.previous.notes).toContain("found it");
    },
  );

  scenario("an agent over its time is ended, and the comment says so", tooSlow, async (world) => {
    const issue = await begin(world);
    const { pid } = await world.working("enrich");
    await world.idle();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(await world.sticky(issue)).toMatch(/`enrich` failed[\s\S]*time limit[\s\S]*`\/crunch`/);
    const last = (await world.chainOf(issue)).at(-1);
    expect([last?.trigger, last?.outcome]).toEqual(["phase_failure", "failed"]);
  });
});

describe.concurrent("a command", () => {
  scenario("saves one checkpoint while a phase runs, which survives it", {}, async (world) => {
    world.hold("enrich");
    const issue = await begin(world);
    await world.working("enrich");
    await world.comment(issue, "/crunch --checkpoint before the holidays");
    await world.until("it is saved", async () => (await world.replies(issue)).length === 1);
    const deliveries = world.deliveriesOf("issue_comment", "created");
    const payload = deliveries.map((each) => each.payload).at(0);
    await world.github.deliver("issue_comment", payload);
    world.release("enrich");
    await world.idle();
    await world.github.deliver("issue_comment", payload);
    await world.idle();
    const saved = (await world.chainOf(issue)).filter(({ trigger }) => trigger === "manual");
    expect(saved.map(({ note }) => note)).toEqual(["before the holidays"]);
    expect(await world.replies(issue)).toEqual([expect.stringContaining(`${saved[0]?.checkpoint_id}`)]);
    await expectOneOfEverything(world, issue);
    expect(world.phasesRun()).toEqual([...agentPhases]);
  });

  scenario(
    "saves one checkpoint of a run that waits, and the run goes on from there",
    manual,
    async (world) => {
      const issue = await begin(world);
      await world.idle();
      await world.comment(issue, "/crunch --checkpoint");
      await world.idle();
      const chain = await world.chainOf(issue);
      expect(chain.at(-1)?.trigger).toBe("manual");
      expect(await world.stateLabels(issue)).toEqual(["state:enrich"]);
      await goOnWith(world, issue, "implementing");
      expect(world.phasesRun()).toEqual(["enrich", "implementing"]);
    },
  );

  scenario("has nothing to save before a run has begun, and says so", {}, async (world) => {
    const issue = await world.openIssue();
    await world.comment(issue, "/crunch --checkpoint");
    await world.idle();
    expect((await world.replies(issue)).join()).toContain("no run has begun");
    expect(await world.headOf(`crunch/issue-${issue}`)).toBeNull();
  });

  scenario(
    "tells where the run stands and changes nothing, also for somebody with triage access",
    {},
    async (world) => {
      const issue = await begin(world);
      await world.idle();
      const before = await world.chainOf(issue);
      await world.comment(issue, "/crunch status", "tess");
      await world.idle();
      const replies = await world.replies(issue);
      expect(replies).toHaveLength(1);
      expect(replies[0]).toContain("Crunch is done · 100 %");
      expect(await world.chainOf(issue)).toHaveLength(before.length);
    },
  );

  scenario("begins a run without any label, and is seen", {}, async (world) => {
    const issue = await world.openIssue();
    const id = await world.comment(issue, "/crunch", "wim");
    await world.idle();
    await expectOneOfEverything(world, issue);
    const { data } = await world.api.reactions.listForIssueComment({ ...names, comment_id: id });
    expect(data.map(({ content }) => content)).toEqual(["eyes"]);
  });
});

describe.concurrent("a person's push to the code branch", () => {
  scenario("between phases is kept and worked on", manual, async (world) => {
    const issue = await begin(world);
    await world.idle();
    await goOnWith(world, issue, "implementing");
    const branch = await codeBranch(world);
    const pushed = await world.push(branch, { "by-hand.txt": "mine\n" });
    await goOnWith(world, issue, "validation");
    await goOnWith(world, issue, "docs");
    expect(await world.stateLabels(issue)).toEqual(["state:done"]);
    const head = (await world.headOf(branch)) ?? "";
    expect(await world.fileAt("by-hand.txt", head)).toBe("mine\n");
    expect(await world.fileAt("CHANGELOG.md", head)).toContain("Fixed");
    const { data } = await world.api.git.getCommit({ ...names, commit_sha: head });
    expect(data.parents.map(({ sha }) => sha)).toEqual([pushed]);
  });

  scenario("elsewhere while a phase runs is not overwritten, and the comment tells", {}, async (world) => {
    world.hold("docs");
    const issue = await begin(world);
    await world.working("docs");
    const branch = await codeBranch(world);
    const main = (await world.headOf("main")) ?? "";
    const moved = await world.push(branch, { "by-hand.txt": "mine\n" }, main);
    world.release("docs");
    await world.idle();
    expect(await world.headOf(branch)).toBe(moved);
    expect(await world.sticky(issue)).toContain("branch was moved by somebody else");
    const last = (await world.chainOf(issue)).at(-1);
    const lost = last?.issue_snapshot.head_sha ?? "";
    expect(lost).not.toBe(moved);
    // It is kept beside the checkpoint, as the comment says.
    const tip = await world.api.git.getCommit({
      ...names,
      commit_sha: (await world.headOf(`crunch/issue-${issue}`)) ?? "",
    });
    expect(tip.data.parents.map(({ sha }) => sha)).toContain(lost);
  });
});
