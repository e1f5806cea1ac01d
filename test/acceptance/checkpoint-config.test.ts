import { describe, expect } from "vitest";
import { createLayout } from "../../src/checkpoint/layout.js";
import { begin, expectDone, latestOf, newest, say } from "./going-back.js";
import { agentPhases, expectOneOfEverything, names, scenario, scriptedConfig, type World } from "./world.js";

const section = (settings: object) => ({
  config: `checkpoint: ${JSON.stringify(settings)}\n${scriptedConfig}`,
});
const file = (settings: object) => ({
  files: { ".claude/checkpoint-config.yaml": JSON.stringify({ checkpoint: settings }) },
});

const checkpointFiles = async (world: World, branch = "crunch/issue-1") =>
  (await world.filesAt(branch)).filter((path) => /\/CP-[^/]+$/.test(path));

describe.concurrent("checkpoints that are turned off", () => {
  for (const [where, options] of [
    ["in crunch.yml", section({ enabled: false })],
    ["in a file of their own", file({ enabled: false })],
  ] as const) {
    scenario(`${where} let nothing run, and the comment says so`, options, async (world) => {
      const issue = await begin(world);
      await say(world, issue, "/crunch");
      const replies = await world.replies(issue);
      expect(replies).toHaveLength(2);
      for (const reply of replies) expect(reply).toMatch(/`checkpoint.enabled: false`[\s\S]*`\/crunch`/);
      expect(world.phasesRun()).toEqual([]);
      expect(await world.headOf("crunch/issue-1")).toBeNull();
    });
  }

  scenario("in the middle of a run are saved by nobody", {}, async (world) => {
    const issue = await begin(world);
    const chain = await world.chainOf(issue);
    await world.push("main", { ".github/crunch.yml": section({ enabled: false }).config });
    await say(world, issue, "/crunch --checkpoint");
    await say(world, issue, `/crunch rollback ${newest(chain, "docs", "phase_start").checkpoint_id}`);
    const replies = await world.replies(issue);
    expect(replies).toHaveLength(2);
    for (const reply of replies) expect(reply).toContain("checkpoint.enabled: false");
    expect(await world.chainOf(issue)).toHaveLength(chain.length);
  });
});

describe("checkpoints on the default branch", () => {
  scenario(
    "are refused, and nothing is written there",
    section({ storage: { branch: "main" } }),
    async (world) => {
      const issue = await begin(world);
      expect(world.phasesRun()).toEqual([]);
      expect((await world.replies(issue)).join()).toContain("Checkpoints need a branch of their own");
    },
  );
});

const eager = { agent_complete: true, every_n_events: 1 };
const reporting = `report("one", 10); report("two", 20);`;

describe.concurrent("the checkpoints that a run can do without", () => {
  const settings = { auto_checkpoint: false, checkpoint_triggers: eager };
  scenario(
    "are not made with auto_checkpoint: false",
    { ...section(settings), agent: reporting },
    async (world) => {
      const issue = await begin(world);
      await expectOneOfEverything(world, issue);
      const triggers = (await world.chainOf(issue)).map(({ trigger }) => trigger);
      expect(new Set(triggers)).toEqual(new Set(["phase_start", "phase_transition"]));
    },
  );

  const inFile = { ...file({ checkpoint_triggers: eager }), agent: reporting };
  scenario("are made where a file of their own asks for them", inFile, async (world) => {
    const issue = await begin(world);
    await expectOneOfEverything(world, issue);
    const triggers = (await world.chainOf(issue)).map(({ trigger }) => trigger);
    expect(triggers).toContain("agent_complete");
    expect(triggers).toContain("every_n_events");
  });

  const both = { ...section({ checkpoint_triggers: { agent_complete: false } }), ...inFile };
  scenario("are decided by crunch.yml where both speak of them", both, async (world) => {
    const issue = await begin(world);
    await expectDone(world, issue);
    expect((await world.chainOf(issue)).map(({ trigger }) => trigger)).not.toContain("agent_complete");
  });
});

const frugal = {
  retention: { phase_start: 0, phase_transition: 1, manual: 1 },
  checkpoint_triggers: eager,
};

describe.concurrent("retention", () => {
  scenario(
    "leaves only so many files on the branch, and a chain that verifies",
    section(frugal),
    async (world) => {
      const issue = await begin(world);
      for (const note of ["a", "b", "c"]) await say(world, issue, `/crunch --checkpoint ${note}`);
      const kept = await world.chainOf(issue);
      // The latest one's own parent stays.
      expect(kept.filter(({ trigger }) => trigger === "manual").map(({ note }) => note)).toEqual(["b", "c"]);
      expect(kept.filter(({ trigger }) => trigger === "phase_start")).toEqual([]);
      expect(kept.filter(({ trigger }) => trigger === "phase_transition")).toHaveLength(4);
      const files = await checkpointFiles(world);
      expect(files).toHaveLength(kept.length);
      await world.label(issue, "state:validation");
      await world.idle();
      await expectDone(world, issue);
      const again = await world.chainOf(issue);
      expect(again.filter(({ trigger }) => trigger === "phase_transition")).toHaveLength(4);
      expect(newest(again, "docs", "phase_transition").phase_version).toBe(2);
    },
  );
});

const fewest = { checkpoint_triggers: { phase_transition: false, every_n_events: false } };

describe.concurrent("the end of a phase", () => {
  scenario(
    "is kept no longer than a run needs it, where it is turned off",
    section(fewest),
    async (world) => {
      const issue = await begin(world);
      await expectDone(world, issue);
      const chain = await world.chainOf(issue);
      expect(latestOf(chain)).toMatchObject({ trigger: "phase_transition", outcome: "succeeded" });
      expect(chain.filter(({ trigger }) => trigger === "phase_transition")).toHaveLength(1);
      expect(world.phasesRun()).toEqual([...agentPhases]);
    },
  );
});

const elsewhere = { storage: { location: "work/issue-{issue}/chain", compress: true } };
const shared = { storage: { branch: "crunch/all" } };

describe.concurrent("the storage", () => {
  scenario(
    "can be another folder, compressed: the run completes, and the comment's link leads there",
    section(elsewhere),
    async (world) => {
      const issue = await begin(world);
      await expectDone(world, issue);
      expect(world.phasesRun()).toEqual([...agentPhases]);
      const storage = { layout: createLayout(elsewhere.storage.location), compress: true };
      const chain = await world.chainOf(issue, { storage });
      const files = await checkpointFiles(world);
      expect(files).toHaveLength(chain.length);
      for (const path of files) expect(path).toMatch(/^work\/issue-1\/chain\/CP-[\w-]+\.yaml\.gz$/);
      expect(await world.filesAt("crunch/issue-1")).toContain("work/issue-1/spec.md");
      const link = /\/blob\/crunch\/issue-1\/([^)]+)\)/.exec(await world.sticky(issue))?.[1] ?? "";
      expect(link).toBe(`work/issue-1/chain/${latestOf(chain).checkpoint_id}.yaml.gz`);
      expect(files).toContain(link);
      // What belongs to the issue does not come to the code, wherever it is.
      const head = (await world.pulls())[0]?.head.sha ?? "";
      expect((await world.filesAt(head)).filter((path) => path.startsWith("work/"))).toEqual([]);
      await say(world, issue, `/crunch rollback ${newest(chain, "docs", "phase_start").checkpoint_id}`);
      await say(world, issue, "/crunch resume");
      await expectDone(world, issue);
    },
  );

  scenario(
    "can be one branch for all issues, which work at the same time",
    section(shared),
    async (world) => {
      const issues = await Promise.all([1, 2, 3].map(() => world.openIssue(["state:enrich"])));
      await world.idle();
      for (const issue of issues) {
        await expectDone(world, issue);
        const chain = await world.chainOf(issue, { branch: "crunch/all" });
        expect(chain.filter(({ outcome }) => outcome === "succeeded")).toHaveLength(agentPhases.length);
      }
      const { data } = await world.api.git.listMatchingRefs({ ...names, ref: "heads/crunch/" });
      expect(data.map(({ ref }) => ref)).toEqual(["refs/heads/crunch/all"]);
      expect(world.phasesRun()).toHaveLength(3 * agentPhases.length);
    },
  );

  scenario(
    "that is too small for a checkpoint is a failure that says what to change",
    section({ storage: { max_size_mb: 0.001 } }),
    async (world) => {
      const issue = await begin(world);
      const [reply, ...more] = await world.replies(issue);
      expect(more).toEqual([]);
      expect(reply).toMatch(/Crunch stopped[\s\S]*max_size_mb/);
      expect(world.phasesRun()).toEqual([]);
      expect(await world.headOf("crunch/issue-1")).toBeNull();
    },
  );

  const wrong = file({ retention: { manuel: 1 }, storage: { location: "../{issue}/x" } });
  scenario("that is not configured well is named with its file and line", wrong, async (world) => {
    const issue = await begin(world);
    const [reply] = await world.replies(issue);
    expect(reply).toMatch(/\.claude\/checkpoint-config\.yaml:1:\d+: .*"manuel".*Did you mean "manual"\?/);
    expect(reply).toMatch(/checkpoint\.storage\.location/);
    expect(world.phasesRun()).toEqual([]);
  });
});
