import { describe, expect } from "vitest";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import {
  begin,
  codeBranch,
  ended,
  expectDone,
  historyOf,
  latestOf,
  manual,
  newest,
  onlyARefusal,
  say,
  startAgain,
  stopBot,
  writesOf,
} from "./going-back.js";
import { agentPhases, names, scenario, scriptedConfig, type World } from "./world.js";

/** Everything an agent writes says which start of its phase wrote it. */
const counting = {
  agent: `
    const lines = readFileSync(join(dir, "journal"), "utf8").trim().split("\\n").map((line) => JSON.parse(line));
    const round = lines.filter((line) => line.phase === phase).length;
    Object.assign(work, {
      enrich: () => output("spec.md", "Spec " + round + "\\n"),
      implementing: () => { write("work.txt", "fine " + round + "\\n"); write("src/only-" + round + ".txt", "x"); },
      validation: () => output("validation.md", "Report " + round + "\\n"),
      docs: () => { write("CHANGELOG.md", "- Fixed " + round + ".\\n"); output("docs.md", "Docs " + round + "\\n"); },
    });`,
};

const folder = ".claude/crunch/1/";

/** All that a person could look at: label, code, outputs, notes, gates. */
async function looks(world: World, issue: number) {
  const head = (await world.headOf(await codeBranch(world))) ?? "";
  const files = (await world.filesAt("crunch/issue-1")).map((path) => path.replace(folder, ""));
  const live = files.filter((path) => !/^(artifacts|checkpoints)\//.test(path)).sort();
  const contents = live.map(async (path) => [path, await world.fileAt(folder + path, "crunch/issue-1")]);
  const gates = [...(await world.sticky(issue)).matchAll(/^- (\S+) \*\*(.+)\*\*/gm)];
  return {
    label: await world.stateLabels(issue),
    tree: (await world.commit(head)).tree,
    live: Object.fromEntries(await Promise.all(contents)),
    gates: gates.map(([, mark, name]) => `${mark} ${name}`),
  };
}

const artifactsOn = async (world: World) =>
  (await world.filesAt("crunch/issue-1")).filter((path) => path.startsWith(`${folder}artifacts/`));

const pathsOf = ({ artifacts, notes }: Checkpoint) =>
  [...Object.values(artifacts), ...Object.values(notes)].map(({ path }) => path).sort();

const treeThen = async (world: World, { issue_snapshot: then }: Checkpoint) =>
  (await world.commit(then.head_sha ?? then.base_sha)).tree;

async function rollBack(world: World, issue: number, target: Checkpoint): Promise<Checkpoint> {
  await say(world, issue, `/crunch rollback ${target.checkpoint_id}`);
  const latest = latestOf(await world.chainOf(issue));
  expect(latest).toMatchObject({ trigger: "rollback", pause: { kind: "rollback" } });
  expect(latest.parent_checkpoint_id).toBe(target.checkpoint_id);
  return latest;
}

/** What each phase's checkpoint leads back to. */
const targets = [
  {
    phase: "validation",
    trigger: "phase_transition",
    next: "docs",
    gates: ["spec", "tests", "validation report"],
  },
  { phase: "validation", trigger: "phase_start", next: "validation", gates: ["spec", "tests"] },
  { phase: "implementing", trigger: "phase_transition", next: "validation", gates: ["spec", "tests"] },
  { phase: "implementing", trigger: "phase_start", next: "implementing", gates: ["spec"] },
  { phase: "enrich", trigger: "phase_transition", next: "implementing", gates: ["spec"] },
  { phase: "enrich", trigger: "phase_start", next: "enrich", gates: [] },
] as const;

describe.concurrent("a rollback", () => {
  scenario(
    "puts state, label, code, notes, outputs and gates back to PRE and POST of every phase",
    counting,
    async (world) => {
      const issue = await begin(world);
      const chain = await world.chainOf(issue);
      const branch = await codeBranch(world);
      const whole = await looks(world, issue);
      const everything = await artifactsOn(world);
      for (const { phase, trigger, next, gates } of targets) {
        const target = newest(chain, phase, trigger);
        const before = (await world.headOf(branch)) ?? "";
        const rolledBack = await rollBack(world, issue, target);
        const shown = await looks(world, issue);
        expect(shown.label).toEqual([`state:${next}`]);
        expect(shown.tree, next).toBe(await treeThen(world, target));
        expect(Object.keys(shown.live)).toEqual(pathsOf(target));
        expect(shown.gates).toEqual(gates.map((name) => `✅ ${name}`));
        const head = (await world.headOf(branch)) ?? "";
        if (head !== before) expect((await world.commit(head)).parents).toEqual([before]);
        expect(rolledBack.issue_snapshot.head_sha).toBe(head);
        expect(await artifactsOn(world)).toEqual(expect.arrayContaining(everything));
        const { phases, current_phase, completed_phases } = rolledBack.orchestrator_state;
        expect([current_phase, phases[next]?.status]).toEqual([next, "pending"]);
        const isDone = agentPhases.slice(
          0,
          agentPhases.findIndex((each) => phases[each]?.status !== "succeeded"),
        );
        expect(completed_phases).toEqual(isDone);
        expect(phases.docs?.status).toBe("pending");
        expect(await world.sticky(issue)).toMatch(
          new RegExp(`Rolled back, \`${next}\` is next[^]*\`/crunch resume\``),
        );
      }
      // The whole way back, and it is as if nothing had been.
      await rollBack(world, issue, latestOf(chain));
      const { gates, ...rest } = await looks(world, issue);
      expect({ ...rest, gates: [...gates].sort() }).toEqual({ ...whole, gates: [...whole.gates].sort() });
      expect(world.phasesRun()).toEqual([...agentPhases]);
      expect(await world.pulls()).toHaveLength(1);
    },
  );

  scenario(
    "waits for /crunch resume, also after a restart and a second delivery; then the run is a new version",
    counting,
    async (world) => {
      const issue = await begin(world);
      const done = await world.chainOf(issue);
      const branch = await codeBranch(world);
      const head = (await world.headOf(branch)) ?? "";
      const target = newest(done, "implementing", "phase_start");
      const asked = await say(world, issue, `/crunch rollback ${target.checkpoint_id}`);
      const [told, ...more] = await world.replies(issue);
      expect(more).toEqual([]);
      expect(told).toMatch(/Rolled back.*Next is `implementing`[\s\S]*`\/crunch resume`/);
      expect(told).toContain(`/crunch rollback ${latestOf(done).checkpoint_id}`);
      const rolledBack = latestOf(await world.chainOf(issue));
      expect(rolledBack.metadata.archived).toHaveLength(3);

      await world.redeliverComment(asked);
      await world.idle();
      await stopBot(world, "SIGKILL");
      await startAgain(world);
      await world.redeliverComment(asked);
      await world.idle();
      expect(world.phasesRun()).toEqual([...agentPhases]);
      expect(latestOf(await world.chainOf(issue)).checkpoint_id).toBe(rolledBack.checkpoint_id);
      expect(await world.replies(issue)).toEqual([told]);
      expect(await world.stateLabels(issue)).toEqual(["state:implementing"]);

      await say(world, issue, "/crunch resume");
      await expectDone(world, issue);
      const chain = await world.chainOf(issue);
      expect(ended(chain)).toEqual([
        ...["enrich 1", "implementing 1", "validation 1", "docs 1"],
        ...["implementing 2", "validation 2", "docs 2"],
      ]);
      expect(world.phasesRun()).toEqual([...agentPhases, "implementing", "validation", "docs"]);
      const now = (await world.headOf(branch)) ?? "";
      expect(await historyOf(world, now)).toContain(head);
      expect(await world.filesAt(now)).toContain("src/only-2.txt");
      expect(await world.filesAt(now)).not.toContain("src/only-1.txt");
      expect(await world.fileAt(`${folder}validation.md`, "crunch/issue-1")).toBe("Report 2\n");
      // The agent that ran again knew what was known then, and nothing of what was taken back.
      expect(world.journal[4]?.context.previous.notes).toBe("- enrich\n");
      const checks = (await world.checks(now)).map(({ name, conclusion }) => `${name} ${conclusion}`).sort();
      expect(checks).toEqual([
        "crunch / docs success",
        "crunch / spec success",
        "crunch / tests success",
        "crunch / validation report success",
      ]);
    },
  );

  scenario(
    "keeps what others pushed in the history, and their later push is asked about",
    {},
    async (world) => {
      const issue = await begin(world);
      const chain = await world.chainOf(issue);
      const branch = await codeBranch(world);
      const pushed = await world.push(branch, { "by-hand.txt": "mine\n" });
      const target = newest(chain, "implementing", "phase_transition");
      await rollBack(world, issue, target);
      const head = (await world.headOf(branch)) ?? "";
      expect(await world.commit(head)).toEqual({ tree: await treeThen(world, target), parents: [pushed] });
      await world.push(branch, { "by-hand.txt": "again\n" });
      await say(world, issue, "/crunch resume");
      expect((await world.replies(issue)).at(-1)).toMatch(/Crunch waits for you[\s\S]*by-hand\.txt/);
      expect(world.phasesRun()).toEqual([...agentPhases]);
      await say(world, issue, "/crunch resume --keep-theirs");
      await expectDone(world, issue);
      expect(await world.fileAt("by-hand.txt", branch)).toBe("again\n");
    },
  );

  scenario("does not come into a phase that runs", {}, async (world) => {
    world.hold("implementing");
    const issue = await world.openIssue(["state:enrich"]);
    await world.working("implementing");
    const target = newest(await world.chainOf(issue), "enrich", "phase_start");
    await world.comment(issue, `/crunch rollback ${target.checkpoint_id}`);
    await world.until("it is answered", async () => (await world.replies(issue)).length === 1);
    expect(await world.replies(issue)).toEqual([expect.stringContaining("a session is working on it")]);
    world.release("implementing");
    await world.idle();
    await expectDone(world, issue);
    expect((await world.chainOf(issue)).map(({ trigger }) => trigger)).not.toContain("rollback");
    expect(world.phasesRun()).toEqual([...agentPhases]);
  });

  scenario("needs write access, an id, and one that is there", manual, async (world) => {
    const issue = await begin(world);
    const chain = await world.chainOf(issue);
    const { checkpoint_id: id } = newest(chain, "enrich", "phase_start");
    world.github.requests.reset();
    await say(world, issue, `/crunch rollback ${id}`, "tess");
    await say(world, issue, "/crunch rollback");
    await say(world, issue, "/crunch rollback latest");
    await say(world, issue, "/crunch rollback CP-enrich-20200101-dead");
    const replies = await world.replies(issue);
    expect(replies).toEqual([
      expect.stringContaining("@tess has triage access"),
      expect.stringContaining("needs the id of the checkpoint"),
      expect.stringContaining("needs the id of the checkpoint"),
      expect.stringContaining("no checkpoint `CP-enrich-20200101-dead`"),
    ]);
    expect(new Set(writesOf(world))).toEqual(new Set(onlyARefusal));
    expect(await world.chainOf(issue)).toHaveLength(chain.length);
  });
});

const failing = {
  agent: `if (phase === "implementing" && !existsSync(join(dir, "mended"))) { write("half.txt", "half\\n"); fail("no idea"); }
    if (phase === "implementing") saw(textOf("half.txt"));`,
};
const stopping = {
  agent: `if (phase === "implementing") {
    saw(textOf("half.txt"));
    if (!existsSync("half.txt")) { write("half.txt", "half\\n"); await rest("half"); }
  }`,
};
const approving = { config: `approval: required\n${scriptedConfig}` };

describe.concurrent("a rollback to a checkpoint", () => {
  scenario("of a phase that failed runs that phase again", failing, async (world) => {
    const issue = await begin(world);
    const failed = newest(await world.chainOf(issue), "implementing", "phase_failure");
    await rollBack(world, issue, newest(await world.chainOf(issue), "enrich", "phase_transition"));
    await rollBack(world, issue, failed);
    expect(await world.stateLabels(issue)).toEqual(["state:implementing"]);
    expect(await world.sticky(issue)).toContain("Rolled back, `implementing` is next");
    world.note("mended");
    await say(world, issue, "/crunch resume");
    await expectDone(world, issue);
    expect(ended(await world.chainOf(issue))).toEqual([
      "enrich 1",
      "implementing 2",
      "validation 1",
      "docs 1",
    ]);
  });

  scenario("of a stopped phase gives the unfinished work to the next attempt", stopping, async (world) => {
    world.hold("half");
    const issue = await world.openIssue(["state:enrich"]);
    await world.resting("half");
    await stopBot(world);
    world.release("half");
    await startAgain(world);
    await expectDone(world, issue);
    const stopped = newest(await world.chainOf(issue), "implementing", "user_interrupt");
    const rolledBack = await rollBack(world, issue, stopped);
    expect(rolledBack.partial_work.map(({ path }) => path)).toEqual(["half.txt"]);
    await say(world, issue, "/crunch resume");
    await expectDone(world, issue);
    expect(world.saw).toEqual([null, "half\n", "half\n"]);
  });

  scenario("before an approval asks for it again", approving, async (world) => {
    const issue = await begin(world);
    await world.label(issue, "state:implementing");
    await world.idle();
    await expectDone(world, issue);
    await rollBack(world, issue, newest(await world.chainOf(issue), "ready", "before_human"));
    expect(await world.stateLabels(issue)).toEqual(["state:ready"]);
    await say(world, issue, "/crunch resume");
    expect(world.phasesRun()).toEqual([...agentPhases]);
    expect(await world.sticky(issue)).toContain("`ready` waits for your approval");
    await world.label(issue, "state:implementing", "wim");
    await world.idle();
    await expectDone(world, issue);
    expect(newest(await world.chainOf(issue), "ready", "approval").note).toBe("approved by @wim");
  });

  scenario(
    "to code of before a restart brings it back, though its branch is gone",
    { ...approving, agent: `if (phase === "validation") saw(textOf("work.txt"));` },
    async (world) => {
      const issue = await begin(world);
      await world.label(issue, "state:implementing");
      await world.idle();
      const branch = await codeBranch(world);
      const target = newest(await world.chainOf(issue), "implementing", "phase_transition");
      await world.api.git.deleteRef({ ...names, ref: `heads/${branch}` });
      await say(world, issue, "/crunch restart");
      expect(latestOf(await world.chainOf(issue)).issue_snapshot.branch).toBe(null);
      const { issue_snapshot } = await rollBack(world, issue, target);
      expect(issue_snapshot.branch).toBe(branch);
      expect(await world.headOf(branch)).toBe(issue_snapshot.head_sha);
      expect((await world.commit(issue_snapshot.head_sha ?? "")).tree).toBe(await treeThen(world, target));
      await say(world, issue, "/crunch resume");
      expect(world.saw).toEqual(["fine\n", "fine\n"]);
      expect(await world.fileAt("CHANGELOG.md", branch)).toBe("- Fixed.\n");
    },
  );
});
