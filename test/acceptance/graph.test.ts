import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { presets } from "../../src/workflow/presets/index.js";
import { createWorkflow } from "../../src/workflow/workflow.js";
import { newest, say, startAgain, stopBot } from "./going-back.js";
import { expectReplay, scenario, type World } from "./world.js";

/** Does each phase by a file of its name; votes for what it is asked about. */
const agent = `
work[phase] ??= () => write(phase + ".txt", phase + "\\n");
const { task } = context;
if (task.kind === "vote") {
  result({ summary: task.name + " likes it.", vote: existsSync(join(dir, "no-" + phase)) ? "reject" : "approve" });
  work[phase] = () => {};
}
work.docs = () => write("docs.txt", "docs\\n");
`;
const orchestrator = { config: "workflow: orchestrator\nagent: scripted\n", agent };

const overlapping = (world: World, phases: readonly string[]) =>
  Promise.all(phases.map((phase) => world.working(phase)));

/** The statuses of the picture in the comment, by phase. */
function pictured(comment: string): Record<string, string> {
  const boxes = [...comment.matchAll(/p\d+[^"\n]*"(\S+) ([\w-]+)"/g)];
  return Object.fromEntries(boxes.map(([, mark = "", name = ""]) => [name, mark]));
}

describe.concurrent("the graph of a team", () => {
  scenario("runs to its end, with phases at the same time that all count", orchestrator, async (world) => {
    world.hold("data");
    world.hold("arch");
    world.hold("hygiene");
    const issue = await world.openIssue(["state:intake"]);
    await overlapping(world, ["data", "arch"]);
    await world.until("the comment shows it", async () => pictured(await world.sticky(issue)).arch === "⏳");
    expect(pictured(await world.sticky(issue))).toMatchObject({
      ...{ intake: "✅", planning: "✅", data: "⏳", arch: "⏳", security: "➖" },
      ...{ "plan-consensus": "▫️", develop: "▫️", complete: "▫️" },
    });
    expect(await world.stateLabels(issue)).toEqual(["state:data"]);
    world.release("data");
    await world.until("the label moves on", async () => (await world.stateLabels(issue))[0] === "state:arch");
    world.release("arch");
    await overlapping(world, ["docs", "review", "hygiene"]);
    world.release("hygiene");
    await world.idle();
    expect(await world.stateLabels(issue)).toEqual(["state:complete"]);
    const comment = await world.sticky(issue);
    expect(comment).toContain("Crunch is done · 100 %");
    expect(new Set(Object.values(pictured(comment)))).toEqual(new Set(["✅", "➖"]));
    const [pull] = await world.pulls();
    const files = await world.filesAt(pull?.head.ref ?? "");
    const written = ["intake", "planning", "data", "arch", "develop", "qa", "docs", "review", "hygiene"];
    expect(files).toEqual(expect.arrayContaining(written.map((name) => `${name}.txt`)));
    const chain = await world.chainOf(issue);
    const options = { approval: "none", projectType: null, include: [] } as const;
    expectReplay(chain, createWorkflow(presets.orchestrator(options)));
    const votes = chain.at(-1)?.agent_outputs.scripted ?? {};
    expect(Object.keys(votes)).toEqual(
      expect.arrayContaining(["plan-consensus/architect", "plan-consensus/qa", "release-consensus/reviewer"]),
    );
  });
});

const both = `workflow:
  phases:
    left: { next: join }
    right: { next: join }
    start: { next: [left, right] }
    join: { next: end }
    end: { type: terminal }
  first: start
agent: scripted
`;

describe.concurrent("phases at the same time", () => {
  scenario(
    "that change the same file: the later one does its work again on top of the other",
    {
      config: both,
      agent: `work.start = () => write("list.txt", "start\\n");
        work.left = work.right = () => {
          saw({ phase, error: previous.error });
          write("list.txt", readFileSync("list.txt", "utf8") + phase + "\\n");
        };
        work.join = () => saw({ phase, list: textOf("list.txt") });`,
    },
    async (world) => {
      world.hold("left");
      world.hold("right");
      const issue = await world.openIssue(["state:start"]);
      await overlapping(world, ["left", "right"]);
      world.release("left");
      await world.until("left is done", async () => (await world.stateLabels(issue))[0] === "state:right");
      world.release("right");
      await world.idle();
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.saw.at(-1)).toEqual({ phase: "join", list: "start\nleft\nright\n" });
      expect(world.saw).toContainEqual({ phase: "right", error: expect.stringContaining("`list.txt`") });
      const chain = await world.chainOf(issue);
      expect(newest(chain, "right", "conflict_start").acp_state.conflicts_in_progress).toEqual([
        "right/work",
      ]);
      expect(newest(chain, "right", "conflict_resolved").acp_state.conflicts_in_progress).toEqual([]);
    },
  );

  scenario(
    "of a bot that dies: what was done is kept, what was not is done again, also after a polite stop",
    { config: both, agent: `work[phase] ??= () => write(phase + ".txt", "attempt " + attempt);` },
    async (world) => {
      world.hold("left");
      world.hold("right");
      const issue = await world.openIssue(["state:start"]);
      await overlapping(world, ["left", "right"]);
      world.release("left");
      await world.until("left is done", async () => (await world.stateLabels(issue))[0] === "state:right");
      await stopBot(world, "SIGKILL");
      await world.startBot();
      await world.working("right", 2);
      await stopBot(world, "SIGTERM");
      world.release("right");
      await startAgain(world);
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.phasesRun()).toEqual([
        "start",
        expect.any(String),
        expect.any(String),
        "right",
        "right",
        "join",
      ]);
      const [pull] = await world.pulls();
      expect(await world.fileAt("right.txt", pull?.head.ref ?? "")).toBe("attempt 3");
      expect(await world.fileAt("left.txt", pull?.head.ref ?? "")).toBe("attempt 1");
    },
  );

  scenario(
    "of which one fails: the other ends, and /crunch tries again only what failed",
    {
      config: both,
      agent: `work[phase] ??= () => write(phase + ".txt", "x");
        if (phase === "left" && !existsSync(join(dir, "mended"))) fail("left is broken");`,
    },
    async (world) => {
      const issue = await world.openIssue(["state:start"]);
      await world.idle();
      expect(await world.sticky(issue)).toContain("`left` failed");
      expect(pictured(await world.sticky(issue))).toMatchObject({ left: "❌", right: "✅", join: "▫️" });
      world.note("mended");
      await say(world, issue, "/crunch");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect([...world.phasesRun()].sort()).toEqual(["join", "left", "left", "right", "start"]);
    },
  );
});

describe.concurrent("a consensus", () => {
  scenario(
    "that is not found leads back, and the next one on",
    {
      config: `workflow:
  phases:
    plan: { next: agree }
    agree: { type: consensus, voters: [architect, tester], otherwise: plan, next: end }
    end: { type: terminal }
agent: scripted
`,
      agent,
    },
    async (world) => {
      world.note("no-agree");
      const issue = await world.openIssue(["state:plan"]);
      await world.until("the plan is made again", () => world.phasesRun().includes("agree"));
      world.hold("plan");
      await world.working("plan", 2);
      rmSync(join(world.dir, "no-agree"));
      world.release("plan");
      await world.idle();
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      expect(world.phasesRun().filter((phase) => phase === "plan").length).toBeGreaterThan(1);
    },
  );

  scenario(
    "of agents and people waits for the people, each of whom counts once",
    {
      config: `workflow:
  phases:
    agree:
      type: consensus
      voters: [architect, tester]
      people: { needed: 2, prompt: Shall we? }
      next: build
    build: { next: end }
    end: { type: terminal }
agent: scripted
`,
      agent,
    },
    async (world) => {
      const issue = await world.openIssue(["state:agree"]);
      await world.idle();
      const comment = await world.sticky(issue);
      expect(comment).toMatch(/`agree` asks\*\*, and needs 2 people; 0 so far:\n\n> Shall we\?/);
      const [, answer = ""] = /^(\/crunch approve CP-\S+)$/m.exec(comment) ?? [];
      await say(world, issue, answer, "rob");
      await say(world, issue, answer, "wim");
      expect(await world.sticky(issue)).toContain("1 so far");
      await say(world, issue, answer, "wim");
      expect((await world.replies(issue)).join()).toMatch(
        /rob has read access[\s\S]*wim has answered already/,
      );
      expect(world.phasesRun()).not.toContain("build");
      await say(world, issue, answer, "octo");
      expect(await world.stateLabels(issue)).toEqual(["state:end"]);
      const last = newest(await world.chainOf(issue), "agree", "approval");
      expect(last).toMatchObject({ outcome: "approved", note: expect.stringContaining("octo") });
    },
  );
});
