import { expect } from "vitest";
import type { Checkpoint, Trigger } from "../../src/checkpoint/schema.js";
import { botLogin, scriptedConfig, type World } from "./world.js";

export const manual = { config: `advance: manual\n${scriptedConfig}` };

/** Opens an issue and lets the run go as far as it goes by itself. */
export async function begin(world: World): Promise<number> {
  const issue = await world.openIssue(["state:enrich"]);
  await world.idle();
  return issue;
}

/** A comment, and a bot that has done all about it. Gives the comment's id. */
export async function say(world: World, issue: number, body: string, login = "octo"): Promise<number> {
  const id = await world.comment(issue, body, login);
  await world.idle();
  return id;
}

/** Ends the bot while the agent works, and gives the run as it was left. */
export async function stopBot(world: World, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  world.kill(signal);
  await world.died();
}

export async function startAgain(world: World): Promise<void> {
  await world.startBot();
  await world.idle();
}

/** The newest checkpoint of a phase that has this trigger. */
export function newest(chain: readonly Checkpoint[], phase: string, trigger: Trigger): Checkpoint {
  const found = chain.findLast(
    (each) => each.workflow_state.current_phase === phase && each.trigger === trigger,
  );
  if (!found) throw new Error(`there is no ${trigger} of ${phase}`);
  return found;
}

export function latestOf(chain: readonly Checkpoint[]): Checkpoint {
  const found = chain.at(-1);
  if (!found) throw new Error("the chain is empty");
  return found;
}

/** The phases whose agent has ended well, in order, with the version that each was. */
export function ended(chain: readonly Checkpoint[]): string[] {
  return chain
    .filter(({ trigger, outcome }) => trigger === "phase_transition" && outcome === "succeeded")
    .map(({ workflow_state, phase_version }) => `${workflow_state.current_phase} ${phase_version}`);
}

/** What the bot did on GitHub that changed something, since the log was reset. */
export function writesOf(world: World): string[] {
  return world.github.requests.entries
    .filter(({ login, method }) => login === botLogin && method !== "GET")
    .map(({ method, route }) => `${method} ${route}`);
}

export const onlyAReply = ["POST /repos/:owner/:repo/issues/:number/comments"];
/** A command that is refused: a reply, and a sign at the comment. */
export const onlyARefusal = [...onlyAReply, "POST /repos/:owner/:repo/issues/comments/:comment/reactions"];

/** Every commit that can be reached from this one. */
export async function historyOf(world: World, sha: string): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  const open = [sha];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(await world.commit(next)).parents);
  }
  return seen;
}

export async function codeBranch(world: World): Promise<string> {
  const branch = (await world.pulls())[0]?.head.ref;
  if (branch === undefined) throw new Error("there is no pull request");
  return branch;
}

/** What people see of a run that goes on by itself: done, and the comment says so. */
export async function expectDone(world: World, issue: number): Promise<void> {
  expect(await world.stateLabels(issue)).toEqual(["state:done"]);
  expect(await world.sticky(issue)).toContain("Crunch is done");
}
