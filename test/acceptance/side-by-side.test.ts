import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { latestOf, say, startAgain, stopBot } from "./going-back.js";
import { expectReplay, scenario, type World } from "./world.js";

/** Two phases side by side between a start and a join; more keys of them are given as YAML. */
const both = (left = "", right = "", more = "") => `workflow:
  phases:
    start: { next: [left, right] }
    left: { ${left}next: join }
    right: { ${right}next: join }
    join: { next: end }
    end: { type: terminal }
agent: scripted
${more}`;

const nodesOfBoth = {
  start: { kind: "fixed", to: ["left", "right"] },
  left: { kind: "fixed", to: ["join"] },
  right: { kind: "fixed", to: ["join"] },
  join: { kind: "fixed", to: ["end"] },
  end: { kind: "terminal", to: [] },
} as const;

async function beginBoth(world: World, ...held: readonly string[]): Promise<number> {
  for (const name of held) world.hold(name);
  return world.openIssue(["state:start"]);
}

/** While the bot writes, what is read may be half old and half new: then it is looked at again. */
const seenMeanwhile = (world: World, issue: number) => world.chainOf(issue).catch(() => []);

const isAt = (world: World, issue: number, phase: string) =>
  world.until(`the label is ${phase}`, async () => (await world.stateLabels(issue))[0] === `state:${phase}`);

/** Each adds a line to the same file; `right` is in the middle of that for a while. */
const sameFile = `work.start = () => write("list.txt", "start\\n");
  work.left = () => write("list.txt", readFileSync("list.txt", "utf8") + "left\\n");
  work.right = () => {};
  if (phase === "right") {
    write("list.txt", readFileSync("list.txt", "utf8") + "right\\n");
    report("wrote it", 50);
    await rest("mid");
  }
  work.join = () => saw({ phase, list: textOf("list.txt") });`;

const everything = "work[phase] ??= () => write(phase + '.txt', 'x'); saw(phase);";

describe.concurrent("a phase beside another", () => {
  scenario(
    "that was stopped in the middle does not undo what the other has done since",
    { config: both(), agent: sameFile },
    async (world) => {
      const issue = await beginBoth(world, "left", "mid");
      await world.resting("mid");
      world.release("left");
      await isAt(world, issue, "right");
      await stopBot(world, "SIGTERM");
      world.release("mid");
      await startAgain(world);
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.saw.at(-1)).toEqual({ phase: "join", list: "start\nleft\nright\n" });
    },
  );

  scenario(
    "that was saved in between does its work again on what the other left, not on its own old files",
    {
      config: both("", "", "checkpoint: { checkpoint_triggers: { every_n_events: 1 } }\n"),
      agent: sameFile,
    },
    async (world) => {
      const issue = await beginBoth(world, "left", "mid");
      await world.resting("mid");
      await world.until("it is saved", async () =>
        (await seenMeanwhile(world, issue)).some(({ trigger }) => trigger === "every_n_events"),
      );
      world.release("left");
      await isAt(world, issue, "right");
      world.release("mid");
      await world.idle();
      expect(world.saw.at(-1)).toEqual({ phase: "join", list: "start\nleft\nright\n" });
    },
  );

  scenario(
    "has its own notes and verdict, and the set-up of its own commands",
    {
      config: both(
        'update: { left: "output.verdict" }, ',
        'update: { right: "output.verdict" }, before: [[node, install.mjs]], gates: [{ type: command, name: tests, command: [node, tests.mjs] }], ',
      ),
      commands: [
        ["node", "install.mjs"],
        ["node", "tests.mjs"],
      ],
      files: {
        ".gitignore": "installed\n",
        "install.mjs": `import { writeFileSync } from "node:fs"; writeFileSync("installed", "x");`,
        "tests.mjs": `import { readFileSync } from "node:fs"; readFileSync("installed");`,
      },
      agent: `work[phase] ??= () => write(phase + ".txt", "x");
        if (phase === "left") notes("\\n## Status\\n\\nVerdict: FINDINGS\\n");
        if (phase === "right") notes("\\n## Status\\n\\nVerdict: APPROVED\\n");
        if (phase === "join") saw(context.state);`,
    },
    async (world) => {
      const issue = await beginBoth(world, "left", "right");
      await Promise.all([world.working("left"), world.working("right")]);
      world.release("left");
      await isAt(world, issue, "right");
      world.release("right");
      await world.idle();
      expect(world.saw).toEqual([{ left: "FINDINGS", right: "APPROVED" }]);
      expect(Object.keys(latestOf(await world.chainOf(issue)).notes).sort()).toEqual([
        ...["scripted", "scripted-left", "scripted-right"],
      ]);
    },
  );

  scenario(
    "and its complete tasks stay, whoever rolls back or tries again",
    {
      config: both(
        "",
        "type: tasks, tasks: { one: {}, two: { depends_on: [one] }, three: { depends_on: [two] } }, ",
      ),
      agent: `work[phase] ??= () => write(phase + context.task.name + ".txt", "x");
        saw(context.task.name);
        if (context.task.name === "three" && !existsSync(join(dir, "mended"))) fail("no");
        if (phase === "left") await rest("mid");`,
    },
    async (world) => {
      const issue = await beginBoth(world, "mid");
      await world.until("three has begun", () => world.saw.includes("three"));
      world.release("mid");
      await world.idle();
      await say(world, issue, "/crunch");
      expect(world.saw.filter((task) => task === "one")).toHaveLength(1);
      const target = (await world.chainOf(issue)).findLast(({ trigger }) => trigger === "batch_complete");
      world.note("mended");
      await say(world, issue, `/crunch rollback ${target?.checkpoint_id}`);
      await say(world, issue, "/crunch resume");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.saw.filter((task) => task === "one")).toHaveLength(1);
      expect(world.saw.filter((task) => task === "two")).toHaveLength(1);
    },
  );

  scenario(
    "can be answered while the other works, by each person once",
    { config: both("type: consensus, people: { needed: 2, prompt: ok? }, "), agent: everything },
    async (world) => {
      const issue = await beginBoth(world, "right");
      await world.working("right");
      await world.until("it is asked", async () => /crunch approve CP/.test(await world.sticky(issue)));
      await Promise.all(["wim", "wim"].map((login) => world.comment(issue, "/crunch approve", login)));
      await world.until("both are answered", async () => (await world.replies(issue)).length >= 2);
      expect((await world.replies(issue)).join()).toMatch(
        /Noted[\s\S]*has answered already|has answered already[\s\S]*Noted/,
      );
      world.release("right");
      await world.idle();
      expect(await world.stateLabels(issue)).toEqual(["state:left"]);
      const graph = { first: "start", nodes: nodesOfBoth };
      expectReplay(await world.chainOf(issue), { graph });
      await say(world, issue, "/crunch approve");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
    },
  );
});

const line = (phases: string, more = "") =>
  `workflow:\n  phases:\n${phases}    end: { type: terminal }\nagent: scripted\n${more}`;

describe.concurrent("what a session leaves", () => {
  scenario(
    "goes on in a workflow that was changed meanwhile: a phase added, the one at work renamed",
    { config: line("    one: { next: two }\n    two: { next: end }\n"), agent: everything },
    async (world) => {
      world.hold("two");
      const issue = await world.openIssue(["state:one"]);
      await world.working("two");
      await stopBot(world, "SIGKILL");
      const changed = line("    one: { next: deux }\n    deux: { next: trois }\n    trois: { next: end }\n");
      await world.push("main", { ".github/crunch.yml": changed });
      world.release("two");
      await startAgain(world);
      await say(world, issue, "/crunch");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.phasesRun()).toEqual(["one", "two", "deux", "trois"]);
    },
  );

  scenario(
    "with an answer is not lost while the commands after it run, and `finally` runs at a stop",
    {
      config: line(
        "    ask: { type: human, ask: { prompt: ok? }, after: [[node, slow.mjs]], next: build }\n    build: { finally: [[node, last.mjs]], next: end }\n",
      ),
      commands: [
        ["node", "slow.mjs"],
        ["node", "last.mjs"],
      ],
      files: {
        "slow.mjs": "await new Promise((resolve) => setTimeout(resolve, 2000));",
        "last.mjs": `import { writeFileSync } from "node:fs"; writeFileSync(process.env.TMPDIR + "/finally", "");`,
      },
      agent: everything,
    },
    async (world) => {
      const issue = await world.openIssue(["state:ask"]);
      await world.idle();
      await world.comment(issue, "/crunch approve");
      await world.until("it is written down", async () => {
        const { run_state, lease } = (await seenMeanwhile(world, issue)).at(-1) ?? {};
        return run_state?.questions.ask?.answers.length === 1 && lease != null;
      });
      await stopBot(world, "SIGKILL");
      world.hold("build");
      await world.startBot();
      await world.working("build");
      await stopBot(world, "SIGTERM");
      expect(existsSync(join(world.dir, "tmp", "finally"))).toBe(true);
      world.release("build");
      await startAgain(world);
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
    },
  );

  scenario(
    "of a verdict in the middle of its gates counts for the next one",
    {
      config: line(
        "    review: { role: reviewer, gates: [{ type: command, name: slow, command: [node, wait.mjs] }], next: [{ if: \"output.verdict == 'FINDINGS'\", to: fix }, { to: end }] }\n    fix: { next: end }\n",
      ),
      commands: [["node", "wait.mjs"]],
      files: {
        "wait.mjs": `import { existsSync, readFileSync, writeFileSync } from "node:fs";
          const dir = existsSync("dir.txt") ? readFileSync("dir.txt", "utf8") : null;
          if (dir) writeFileSync(dir + "/at-gate-" + process.pid, "");
          while (dir && existsSync(dir + "/hold-gate")) await new Promise((resolve) => setTimeout(resolve, 20));`,
      },
      agent: `work[phase] ??= () => {};
        if (phase === "review") { notes("\\n## Status\\n\\nVerdict: FINDINGS\\n"); write("dir.txt", dir); }`,
    },
    async (world) => {
      world.hold("gate");
      await world.openIssue(["state:review"]);
      await world.gatesBegun(1);
      await stopBot(world, "SIGTERM");
      world.release("gate");
      await startAgain(world);
      expect(world.phasesRun()).toEqual(["review", "fix"]);
    },
  );

  scenario(
    "asked about work is asked again after a rollback, and the work is not done twice",
    {
      config: `workflow:
  data: { n: 0 }
  phases:
    build: { update: { n: "state.n + 1" }, ask: { prompt: ok? }, next: show }
    show: { on_error: pause, next: end }
    end: { type: terminal }
agent: scripted
`,
      agent: `work[phase] ??= () => write("x.txt", "x");
        saw({ phase, n: context.state.n, error: previous.error });
        if (phase === "show" && !existsSync(join(dir, "mended"))) { result({ summary: "the disk is full" }); fail("no"); }`,
    },
    async (world) => {
      const issue = await world.openIssue(["state:build"]);
      await world.idle();
      const target = latestOf(await world.chainOf(issue));
      await say(world, issue, "/crunch approve");
      await say(world, issue, `/crunch rollback ${target.checkpoint_id}`);
      await say(world, issue, "/crunch approve");
      world.note("mended");
      await say(world, issue, "/crunch answer retry");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.saw.at(-1)).toEqual({
        phase: "show",
        n: 1,
        error: expect.stringContaining("the disk is full"),
      });
      expect(world.phasesRun().filter((phase) => phase === "build")).toHaveLength(1);
    },
  );
});
