import { describe, expect } from "vitest";
import type { FaultEffect } from "../../src/embedded-github/index.js";
import { agentPhases, expectOneOfEverything, scenario, type World } from "./world.js";

/** A label on an issue that is just being opened: a request of a person less to tell from the bot's. */
const openLabelled = (world: World) => world.openIssue(["state:enrich"]);

async function finishWithNewBot(world: World, issue: number): Promise<void> {
  await world.died();
  await world.startBot();
  await world.until("the run is over", async () => (await world.stateLabels(issue)).includes("state:done"));
  await world.idle();
  await expectOneOfEverything(world, issue);
}

describe.concurrent("a bot killed while the agent works", () => {
  scenario("in every phase once: the next one runs that phase again, and only that", {}, async (world) => {
    for (const phase of agentPhases) world.hold(phase);
    const issue = await openLabelled(world);
    for (const phase of agentPhases) {
      await world.working(phase);
      world.kill();
      await world.died();
      // SIGKILL leaves the bot no time to end its agent, which goes on by itself: what it does must not count.
      await world.startBot();
      const again = await world.working(phase, 2);
      expect(again.attempt).toBe(2);
      world.release(phase);
    }
    await world.until("the run is over", async () => (await world.stateLabels(issue)).includes("state:done"));
    await world.idle();
    await expectOneOfEverything(world, issue);
    expect(world.phasesRun()).toEqual(agentPhases.flatMap((phase) => [phase, phase]));
  });

  scenario("three times in the same phase gives up, says so, and /crunch tries again", {}, async (world) => {
    world.hold("implementing");
    const issue = await openLabelled(world);
    for (const times of [1, 2, 3]) {
      await world.working("implementing", times);
      world.kill();
      await world.died();
      await world.startBot();
    }
    await world.idle();
    expect(world.phasesRun()).toEqual(["enrich", "implementing", "implementing", "implementing"]);
    expect(await world.sticky(issue)).toMatch(/`implementing` failed[\s\S]*died 3 times[\s\S]*`\/crunch`/);
    world.release("implementing");
    await world.comment(issue, "/crunch");
    await world.idle();
    await expectOneOfEverything(world, issue);
  });

  scenario("politely ends its agent first, and the next one goes on", {}, async (world) => {
    world.hold("validation");
    const issue = await openLabelled(world);
    const { pid } = await world.working("validation");
    world.kill("SIGTERM");
    await world.died();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    const chain = await world.chainOf(issue);
    expect(chain.filter(({ outcome }) => outcome === "interrupted")).toHaveLength(1);
    expect([chain.at(-1)?.outcome, chain.at(-1)?.lease]).toEqual(["interrupted", null]);
    world.release("validation");
    await finishWithNewBot(world, issue);
  });
});

type Write = readonly [method: string, path: RegExp];

/** The requests that change something, in the order of a run, most of them around the first commit of code. */
const writes: readonly [Write, ...Write[]] = [
  ["POST", /\/issues\/1\/comments$/],
  ["POST", /\/git\/trees$/],
  ["PATCH", /\/git\/refs\/heads\/crunch\/issue-1$/],
  ["POST", /\/git\/refs$/],
  ["POST", /\/pulls$/],
  ["POST", /\/check-runs$/],
  ["POST", /\/check-runs$/],
  ["PATCH", /\/issues\/comments\/\d+$/],
  ["POST", /\/issues\/1\/labels$/],
  ["DELETE", /\/issues\/1\/labels\/.+$/],
  ["PATCH", /\/git\/refs\/heads\/feature\/.+$/],
  ["POST", /\/issues\/1\/labels$/],
];

describe.concurrent("a bot started beside one that works", () => {
  scenario("leaves the run to it", {}, async (world) => {
    world.hold("implementing");
    const issue = await openLabelled(world);
    await world.working("implementing");
    await world.startBot();
    await world.idle();
    world.release("implementing");
    await world.until("the run is over", () => world.lines.some(({ status }) => status === "finished"));
    await world.idle();
    await expectOneOfEverything(world, issue);
    expect(world.phasesRun()).toEqual([...agentPhases]);
  });
});

describe.concurrent("a bot killed between two requests", () => {
  scenario("just before each kind of write: the next one goes on with it", {}, async (world) => {
    let hanging = world.hangAt(...writes[0]);
    const issue = await openLabelled(world);
    for (const next of [...writes.slice(1), null]) {
      await hanging.reached();
      world.kill();
      await world.died();
      if (next !== null) {
        hanging = world.hangAt(...next);
        await world.startBot();
      }
    }
    await finishWithNewBot(world, issue);
  });

  scenario("just after each kind of write: the next one does not do it again", {}, async (world) => {
    world.killAfter(...writes[0]);
    const issue = await openLabelled(world);
    for (const next of writes.slice(1)) {
      await world.died();
      world.killAfter(...next);
      await world.startBot();
    }
    await finishWithNewBot(world, issue);
  });

  scenario(
    "before the first checkpoint: the next one finds the label, and begins the run",
    {},
    async (world) => {
      const hanging = world.hangAt("POST", /\/git\/refs$/);
      const issue = await world.openIssue();
      await world.label(issue, "state:enrich");
      await hanging.reached();
      world.kill();
      await world.died();
      await world.startBot();
      await world.idle();
      await expectOneOfEverything(world, issue);
      const [delivery] = world.deliveriesOf("issues", "labeled");
      await world.github.redeliver(delivery?.id ?? "");
      await world.idle();
      await expectOneOfEverything(world, issue);
    },
  );

  scenario("and a label of somebody who may not start a run begins none", {}, async (world) => {
    world.kill();
    await world.died();
    const issue = await world.openIssue();
    await world.label(issue, "state:enrich", "tess");
    await world.startBot();
    await world.idle();
    expect(await world.chainOf(issue)).toEqual([]);
    expect(await world.stateLabels(issue)).toEqual([]);
  });
});

const faults: readonly (readonly [what: string, effect: FaultEffect])[] = [
  ["answers 500 to", { kind: "status", status: 500 }],
  ["resets the connection of", { kind: "reset" }],
  ["carries out but never answers", { kind: "lost" }],
  ["carries out but answers 502 to", { kind: "lost-status", status: 502 }],
];

describe.concurrent("a GitHub that", () => {
  for (const [what, effect] of faults) {
    scenario(`${what} each kind of write once: nothing is missing, nothing doubled`, {}, async (world) => {
      for (const [method, path] of writes) world.github.faults.add({ match: { method, path }, effect });
      const issue = await openLabelled(world);
      await world.until("the run is over", async () =>
        (await world.stateLabels(issue)).includes("state:done"),
      );
      await world.idle();
      await expectOneOfEverything(world, issue);
      expect(world.phasesRun()).toEqual([...agentPhases]);
    });
  }

  scenario("fails at reading for a while is asked again", {}, async (world) => {
    await world.idle();
    const effect = { kind: "status", status: 502 } as const;
    for (const path of [/\/issues\/1$/, /\/contents\//, /\/permission$/, /\/tarball\//])
      world.github.faults.add({ match: { method: "GET", path }, effect });
    const issue = await openLabelled(world);
    await world.until("the run is over", async () => (await world.stateLabels(issue)).includes("state:done"));
    await world.idle();
    await expectOneOfEverything(world, issue);
  });
});
