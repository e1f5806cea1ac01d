import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  chainOf as chainOfAction,
  labels,
  newFolder,
  runJob,
  sampleGitHub,
  startJob,
} from "./action-world.js";
import { begin, expectDone, latestOf, newest, say, startAgain, stopBot } from "./going-back.js";
import { agentPhases, expectOneOfEverything, scenario, scriptedConfig, type World } from "./world.js";

const withCheckpoints = (settings: object, config = scriptedConfig) =>
  `checkpoint: ${JSON.stringify(settings)}\n${config}`;
/** By the bot's log: a chain that is being written to can't be verified. */
const isStored = (world: World, trigger: string) => world.lines.some((line) => line.trigger === trigger);

const failingAtFirst = {
  config: `approval: required\n${scriptedConfig}`,
  agent: `if (phase === "implementing" && previous.error === null) {
    write("half.txt", "half\\n");
    notes("- do not trust the parser\\n");
    report("half of it", 50);
    await rest("half");
    fail("no idea how to go on");
  }`,
};

describe.concurrent("a checkpoint is made", () => {
  scenario(
    "when a phase starts, ends, fails, waits for a person and is approved, and when a person says so",
    failingAtFirst,
    async (world) => {
      world.hold("half");
      const issue = await begin(world);
      await world.label(issue, "state:implementing", "wim");
      await world.resting("half");
      await world.comment(issue, "/crunch --checkpoint before it fails");
      await world.until("it is saved", async () => (await world.replies(issue)).length === 1);
      world.release("half");
      await world.idle();
      const chain = await world.chainOf(issue);
      expect(chain.map(({ type, trigger }) => `${type} ${trigger}`)).toEqual([
        ...["PRE phase_start", "POST phase_transition", "PRE before_human", "POST approval"],
        ...["PRE phase_start", "PRE manual", "POST phase_failure"],
      ]);
      const [start, end, asked, approved, , manual, failed] = chain;
      expect(start).toMatchObject({ outcome: null, lease: { session_id: start?.session_id }, artifacts: {} });
      expect(end).toMatchObject({ outcome: "succeeded", artifacts: { "spec.md": { path: "spec.md" } } });
      expect(end?.governance_results.quality_gates).toMatchObject([{ name: "spec", status: "passed" }]);
      expect(asked?.orchestrator_state.phases.ready).toMatchObject({ status: "waiting" });
      expect(approved).toMatchObject({ outcome: "approved", note: "approved by @wim" });
      // Saved in the middle of a phase, it takes nothing from the session that works.
      expect(manual).toMatchObject({ note: "before it fails", lease: { session_id: failed?.session_id } });
      expect(failed).toMatchObject({ outcome: "failed", error: { code: "agent_failed" } });
      expect(failed?.metadata.output_tail).toContain("no idea how to go on");
      expect(failed?.partial_work.map(({ path, status }) => `${path} ${status}`)).toEqual(["half.txt added"]);
      expect(failed?.progress.map(({ message }) => message)).toEqual(["half of it"]);
      expect(await world.fileAt(".claude/crunch/1/notes/scripted.md", "crunch/issue-1")).toContain(
        "the parser",
      );
      expect(await world.pulls()).toEqual([]);

      await say(world, issue, "/crunch");
      await expectDone(world, issue);
      expect(world.journal.at(-3)?.context.previous.notes).toContain("the parser");
    },
  );
});

/** A gate that rests where the work says, so that a bot can be ended in its middle. */
const slowGate = {
  config: withCheckpoints({ checkpoint_triggers: { agent_complete: true } }),
  files: {
    "check.mjs": `import { existsSync, readFileSync, writeFileSync } from "node:fs";
      const dir = readFileSync("work.txt", "utf8").trim();
      writeFileSync(dir + "/at-gate-" + process.pid, "");
      while (existsSync(dir + "/hold-gate")) await new Promise((resolve) => setTimeout(resolve, 20));`,
  },
  agent: `work.implementing = () => { write("work.txt", dir); output("extra.md", "more\\n"); };`,
};

describe.concurrent("a checkpoint in the middle of a phase", () => {
  scenario(
    "when its agent is done: a bot that ends in the gates does not run the agent again",
    slowGate,
    async (world) => {
      world.hold("gate");
      const issue = await world.openIssue(["state:enrich"]);
      await world.gatesBegun(1);
      const saved = latestOf(await world.chainOf(issue));
      expect(saved).toMatchObject({ trigger: "agent_complete", type: "PRE" });
      expect(saved.execution_graph.node_states["implementing/work"]?.result).toContain("did implementing");
      expect(saved.partial_work.map(({ path }) => path).sort()).toEqual([
        ".claude/crunch/1/extra.md",
        "work.txt",
      ]);
      await stopBot(world, "SIGKILL");
      await world.startBot();
      await world.gatesBegun(2);
      await stopBot(world, "SIGTERM");
      world.release("gate");
      await startAgain(world);
      await expectOneOfEverything(world, issue);
      expect(world.phasesRun()).toEqual([...agentPhases]);
      const built = newest(await world.chainOf(issue), "implementing", "phase_transition");
      expect(built.agent_outputs.scripted?.implementing?.output_summary).toBe(
        "The scripted agent did implementing.",
      );
      expect(await world.fileAt(".claude/crunch/1/extra.md", "crunch/issue-1")).toBe("more\n");
    },
  );

  scenario(
    "after every so many reports: the next attempt gets the files and notes of then",
    {
      config: withCheckpoints({ checkpoint_triggers: { every_n_events: 2 } }),
      agent: `if (phase === "implementing") {
        saw({ attempt, one: textOf("one.txt"), two: textOf("two.txt"), late: textOf("late.txt"), notes: previous.notes });
        if (attempt === 1) {
          write("one.txt", "1\\n");
          report("one", 10);
          write("two.txt", "2\\n");
          notes("- one and two are there\\n");
          report("two", 20);
          await rest("saved");
          write("late.txt", "too late\\n");
          report("three", 30);
          await rest("forever");
        }
      }`,
    },
    async (world) => {
      for (const place of ["saved", "forever"]) world.hold(place);
      const issue = await world.openIssue(["state:enrich"]);
      await world.until("it is saved", () => isStored(world, "every_n_events"));
      world.release("saved");
      await world.resting("forever");
      await stopBot(world, "SIGKILL");
      const saved = latestOf(await world.chainOf(issue));
      expect(saved).toMatchObject({ trigger: "every_n_events", type: "PRE", outcome: null });
      expect(saved.lease?.session_id).toBe(saved.session_id);
      expect(saved.progress.map(({ message }) => message)).toEqual(["one", "two"]);
      await startAgain(world);
      await expectOneOfEverything(world, issue);
      expect(world.saw).toMatchObject([
        { attempt: 1, one: null, two: null },
        { attempt: 2, one: "1\n", two: "2\n", late: null },
      ]);
      expect(world.saw[1]).toMatchObject({ notes: expect.stringContaining("one and two are there") });
    },
  );
});

it("a job near its time limit saves a session_end and ends well; the next job goes on", async () => {
  const folder = newFolder();
  const agent = join(folder, "agent.mjs");
  writeFileSync(
    agent,
    `import { existsSync, readFileSync, writeFileSync } from "node:fs";
     const { phase, attempt } = JSON.parse(readFileSync(process.env.CRUNCH_CONTEXT, "utf8"));
     writeFileSync(process.env.CRUNCH_OUTPUT + "/" + phase + ".md", phase);
     if (phase === "implementing" && attempt === 1) {
       writeFileSync("half.txt", "half");
       await new Promise((resolve) => setTimeout(resolve, 60_000));
     }
     if (phase === "implementing" && !existsSync("half.txt")) process.exit(1);`,
  );
  const agents = { slow: { command: [process.execPath, agent] } };
  const gh = await sampleGitHub({ agent: "slow", agents, phases: {} });
  const event = await labels(gh, "state:enrich");
  const first = await startJob(gh, event, { inputs: { "time-limit-minutes": "0.05" } }).ended;
  expect(first, first.log).toMatchObject({
    exitCode: 0,
    outputs: { status: "interrupted", reason: "session_end saved", phase: "implementing" },
  });
  const { chain, problems } = await chainOfAction(gh);
  expect(problems).toEqual([]);
  expect(chain.latest).toMatchObject({ trigger: "session_end", outcome: "interrupted", lease: null });
  expect(chain.latest?.partial_work.map(({ path }) => path)).toContain("half.txt");
  const second = await runJob(gh, event);
  expect(second, second.log).toMatchObject({ exitCode: 0, outputs: { status: "finished" } });
  expect((await chainOfAction(gh)).chain.latest?.orchestrator_state.phases).toMatchObject({
    enrich: { attempt: 1 },
    implementing: { attempt: 2, status: "succeeded" },
  });
});
