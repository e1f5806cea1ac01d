import { describe, expect } from "vitest";
import { newest, say, startAgain, stopBot } from "./going-back.js";
import { scenario, type World } from "./world.js";

const inFile = (workflow: string, files: Readonly<Record<string, string>> = {}) => ({
  config: "workflow: .github/flow.yml\nagent: scripted\n",
  files: { ".github/flow.yml": workflow, ...files },
});

/** The comments that answer the question, as the status shows them. */
async function answers(world: World, issue: number): Promise<string[]> {
  const [, block = ""] =
    /Answer with[^\n]*\n\n```text\n([\s\S]*?)\n```/.exec(await world.sticky(issue)) ?? [];
  return block.split("\n").filter((line) => line !== "");
}

const plain = `work[phase] ??= () => write(phase + ".txt", phase + "\\n");`;

describe.concurrent("a workflow in a file of the repo", () => {
  scenario(
    "asks with choices and for a text, and its conditions see the answers",
    {
      ...inFile(`
phases:
  colour:
    type: human
    ask: { type: choice, prompt: "Which colour for {{ issue.title }}?", choices: [red, deep blue] }
    next: reason
  reason:
    type: human
    ask: { type: text, prompt: "Why {{ state.colour }}?", save_as: why }
    next: [{ if: "state.colour == 'red'", to: paint-red }, { to: paint-blue }]
  paint-red: { next: end }
  paint-blue: { next: end }
  end: { type: terminal }
`),
      agent: `${plain} saw(context.state);`,
    },
    async (world) => {
      const issue = await world.openIssue(["state:colour"]);
      await world.idle();
      expect(await world.sticky(issue)).toContain("> Which colour for The work is missing?");
      const [, blue = ""] = await answers(world, issue);
      expect(blue).toMatch(/^\/crunch answer CP-colour-\S+ deep blue$/);
      await say(world, issue, "/crunch answer green");
      expect((await world.replies(issue)).join()).toContain("it is one of `red`, `deep blue`");
      await say(world, issue, blue);
      expect(await world.sticky(issue)).toContain("> Why deep blue?");
      // The answer to a question that was answered is not taken for one to the next.
      await say(world, issue, blue);
      expect((await world.replies(issue)).join()).toContain("asks nothing that is still open");
      await say(world, issue, "/crunch answer It is calm.");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.phasesRun()).toEqual(["paint-blue"]);
      expect(world.saw).toEqual([{ colour: "deep blue", why: "It is calm." }]);
      expect((await world.chainOf(issue)).at(-1)?.orchestrator_state.phases["paint-red"]?.status).toBe(
        "skipped",
      );
    },
  );

  scenario(
    "tries again by itself, soon in the same session and later in another",
    {
      ...inFile(`
phases:
  flaky: { on_error: { strategy: retry, max_retries: 1, delay: 1s, jitter: 0 }, next: patient }
  patient: { on_error: { strategy: retry, max_retries: 2, delay: 2d }, next: end }
  end: { type: terminal }
`),
      agent: `${plain}
        saw({ phase, error: previous.error });
        const once = join(dir, "failed-" + phase);
        if (!existsSync(once)) { writeFileSync(once, ""); fail(phase + " is not ready"); }`,
    },
    async (world) => {
      const issue = await world.openIssue(["state:flaky"]);
      await world.idle();
      expect(world.phasesRun()).toEqual(["flaky", "flaky", "patient"]);
      expect(world.saw[1]).toMatchObject({ error: expect.stringContaining("exited with code 1") });
      const comment = await world.sticky(issue);
      expect(comment).toMatch(/🔁 `patient` failed and is tried again[\s\S]*the next try begins at 20\d\d-/);
      const asleep = (await world.chainOf(issue)).at(-1);
      expect(asleep?.orchestrator_state.phases.patient).toMatchObject({ status: "pending", retries: 1 });
      await stopBot(world);
      await startAgain(world);
      expect(world.phasesRun()).toHaveLength(3);
      await say(world, issue, "/crunch");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
    },
  );

  scenario(
    "asks what to do about a failure, and does that",
    {
      ...inFile(`
phases:
  build: { on_error: { strategy: pause, prompt: "{{ output.error }} What now?" }, next: polish }
  polish: { on_error: pause, next: end }
  end: { type: terminal }
`),
      agent: `${plain} if (phase === "polish" || attempt === 1 && context.phase_version === 1 && !existsSync(join(dir, "mended"))) fail("no");`,
    },
    async (world) => {
      const issue = await world.openIssue(["state:build"]);
      await world.idle();
      const [retry = "", skip = "", failing = ""] = await answers(world, issue);
      expect([retry, skip, failing].map((each) => each.split(" ").at(-1))).toEqual(["retry", "skip", "fail"]);
      expect(await world.sticky(issue)).toMatch(/> .*What now\?/);
      world.note("mended");
      await say(world, issue, retry);
      expect(world.phasesRun()).toEqual(["build", "build", "polish"]);
      await say(world, issue, "/crunch answer skip");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      const phases = (await world.chainOf(issue)).at(-1)?.orchestrator_state.phases;
      expect([phases?.build?.status, phases?.polish?.status]).toEqual(["succeeded", "skipped"]);
    },
  );

  scenario(
    "runs tasks one for each, in the order they need, until enough is done, and commands around them",
    {
      ...inFile(
        `
data: { names: [ada, bob, cy], turns: 0 }
phases:
  each: { for_each: state.names, parallel: 2, update: { done: "output.task" }, next: ordered }
  ordered:
    type: tasks
    tasks: { last: { depends_on: [first] }, first: { does: begins } }
    gates: [{ type: command, name: both, command: [node, both.mjs] }]
    next: turning
  turning: { update: { turns: "state.turns + 1" }, until: { done: "state.turns == 2", most: 5 }, next: around }
  around:
    guard: "state.turns > 1"
    before: [[node, before.mjs]]
    after: [[node, after.mjs]]
    finally: [{ command: [node, finally.mjs], timeout: 1m }]
    next: never
  never: { guard: "state.turns > 5", next: end }
  end: { type: terminal }
`,
        {
          "both.mjs": `import { readFileSync } from "node:fs"; readFileSync("first.txt"); readFileSync("last.txt");`,
          "before.mjs": `import { writeFileSync } from "node:fs"; writeFileSync("before.txt", "");`,
          "after.mjs": `import { readFileSync } from "node:fs"; readFileSync("around.txt");`,
          "finally.mjs": "",
        },
      ),
      commands: ["both", "before", "after", "finally"].map((name) => ["node", `${name}.mjs`]),
      agent: `const { task } = context;
        saw({ phase, task: task.name, item: task.item, role: task.role });
        work.each = () => write(task.item + ".txt", "x");
        work.ordered = () => write(task.name + ".txt", String(existsSync("first.txt")));
        work.turning = () => write("turn.txt", task.name);
        work.around = () => write("around.txt", String(existsSync("before.txt")));`,
    },
    async (world) => {
      const issue = await world.openIssue(["state:each"]);
      await world.idle();
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      const tasks = world.saw as readonly { phase: string; task: string; item: unknown }[];
      expect(
        tasks
          .filter(({ phase }) => phase === "each")
          .map(({ item }) => item)
          .sort(),
      ).toEqual(["ada", "bob", "cy"]);
      expect(tasks.filter(({ phase }) => phase === "ordered").map(({ task }) => task)).toEqual([
        "first",
        "last",
      ]);
      expect(tasks.filter(({ phase }) => phase === "turning").map(({ task }) => task)).toEqual(["1", "2"]);
      const chain = await world.chainOf(issue);
      expect(newest(chain, "ordered", "batch_complete").execution_graph.node_states).toMatchObject({
        "ordered/first": { status: "complete" },
        "ordered/last": { status: "pending" },
      });
      expect(chain.at(-1)?.run_state?.state).toMatchObject({ turns: 2 });
      const [pull] = await world.pulls();
      const files = await world.filesAt(pull?.head.ref ?? "");
      expect(files).toEqual(
        expect.arrayContaining(["ada.txt", "bob.txt", "cy.txt", "first.txt", "last.txt"]),
      );
      expect(await world.fileAt("last.txt", pull?.head.ref ?? "")).toBe("true");
      expect(await world.fileAt("around.txt", pull?.head.ref ?? "")).toBe("true");
      expect(chain.at(-1)?.orchestrator_state.phases.never?.status).toBe("skipped");
      expect(chain.at(-1)?.governance_results.quality_gates).toMatchObject([
        { name: "both", status: "passed" },
      ]);
    },
  );
});

describe.concurrent("a question that nobody answers", () => {
  scenario(
    "is reminded of without noise, and ends as it says",
    {
      ...inFile(`
phases:
  ask:
    type: human
    ask: { type: choice, prompt: Ship it?, choices: [yes, no], timeout: 7s, on_timeout: { answer: no }, remind: 1s }
    next: [{ if: "state.ask == 'yes'", to: ship }, { to: end }]
  ship: { next: end }
  end: { type: terminal }
`),
      agent: plain,
    },
    async (world) => {
      const issue = await world.openIssue(["state:ask"]);
      await world.idle();
      const begin = Date.now();
      expect(await world.sticky(issue)).toMatch(
        /Without an answer until .* UTC, `no` counts as the answer\./,
      );
      const passed = (seconds: number) =>
        world.until("time has passed", () => Date.now() - begin > seconds * 1000);
      const reminders = async () =>
        (await world.replies(issue)).filter((body) => body.includes("waits for an answer since"));
      await passed(1);
      for (const _ of ["once", "twice"]) {
        await stopBot(world);
        await startAgain(world);
      }
      expect((await reminders()).length).toBeLessThanOrEqual(2);
      expect((await reminders())[0]).toContain("> Ship it?");
      await stopBot(world);
      await passed(7.5);
      await startAgain(world);
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect((await world.chainOf(issue)).at(-1)?.run_state?.state).toEqual({ ask: "no" });
      expect(world.phasesRun()).toEqual([]);
    },
  );
});

describe.concurrent("the loop of specialists", () => {
  const filled = (step: string, verdict = "") =>
    [
      "### Patterns Discovered",
      "Small steps.",
      "### Gotchas Encountered",
      "None.",
      "### Observations",
      "Fine.",
    ]
      .concat([
        "## Status",
        `- Step completed: ${step}`,
        ...(verdict === "" ? [] : [`- Verdict: ${verdict}`]),
      ])
      .join("\\n");
  scenario(
    "does not go on with empty notes, goes back on findings, and ends when all have reflected",
    {
      config: "workflow: dev-loop\nagent: scripted\n",
      agent: `const { task } = context;
        work[phase] ??= () => write(phase + ".txt", String(context.phase_version));
        if (phase === "code-review" || phase === "reflection")
          work[phase] = () => output(phase + "-" + task.name + ".md", "Fine.");
        saw({ phase, task: task.name, notes: previous.notes?.length ?? 0 });
        const say = (text) => writeFileSync(process.env.CRUNCH_NOTES, text + "\\n");
        if (phase === "implementation") say(existsSync(join(dir, "diligent")) ? "${filled("implementation")}" : "### Patterns Discovered\\n<!-- what worked -->\\n");
        if (phase === "code-review") {
          const finds = task.name === "test" && !existsSync(join(dir, "found"));
          if (finds && existsSync(join(dir, "careful"))) writeFileSync(join(dir, "found"), "");
          const isEmpty = task.name === "security" && !existsSync(join(dir, "careful"));
          if (isEmpty) say("### Observations\\n");
          else say(finds ? "${filled("review", "FINDINGS")}" : "${filled("review", "APPROVED")}");
        }
        if (phase === "reflection") say("${filled("reflection")}");`,
    },
    async (world) => {
      const issue = await world.openIssue(["state:implementation"]);
      await world.idle();
      expect(await world.sticky(issue)).toMatch(/`implementation` failed[\s\S]*implementation notes/);
      world.note("diligent");
      await say(world, issue, "/crunch");
      // What one reviewer left out is asked of all of them again: the gate is about all.
      expect(await world.sticky(issue)).toMatch(/`code-review` failed[\s\S]*review notes[^\n]*security/);
      world.note("careful");
      await say(world, issue, "/crunch");
      expect(await world.stateLabels(issue)).toEqual(["state:complete"]);
      const phases = world.phasesRun();
      expect(phases.filter((phase) => phase === "implementation")).toHaveLength(3);
      expect(phases.filter((phase) => phase === "code-review")).toHaveLength(9);
      expect(phases.filter((phase) => phase === "reflection")).toHaveLength(4);
      const { notes = {} } = (await world.chainOf(issue)).at(-1) ?? {};
      expect(Object.keys(notes).sort()).toEqual([
        "code-reviewer",
        "implementer",
        "security",
        "test",
        "validation",
      ]);
      // Each goes on with its own notes.
      const last = world.saw.slice(-4) as { notes: number }[];
      expect(last.every((each) => each.notes > 50)).toBe(true);
    },
  );
});
