import { type Parsed, parseEvent, trustedBots } from "../adapters/github/events.js";
import { input, type Runner } from "./action-runner.js";

/**
 * The inputs `issue` and `command` win: they make any event, such as a schedule, a command for one issue, or with
 * `sweep` for all.
 */
export function eventOf(runner: Runner, payload: unknown): Parsed {
  const options = {
    ownLogin: input("bot-login"),
    allowedBots: allowedBots(),
    runId: runner.GITHUB_RUN_ID,
  };
  const isAbout = input("issue") !== "" || input("command").trim() === "sweep";
  if (!isAbout) return parseEvent(runner.GITHUB_EVENT_NAME, payload, options);
  const inputs = { issue: input("issue"), command: input("command") };
  return parseEvent("workflow_dispatch", { inputs, sender: { login: runner.GITHUB_ACTOR } }, options);
}

const allowedBots = () =>
  input("allowed-bots")
    .split(/[\s,]+/)
    .filter((login) => login !== "");

/** GitHub lets nobody without write access dispatch a workflow, and knows no access of bots such as this job itself. */
export function trusted({ GITHUB_EVENT_NAME }: Runner, parsed: Parsed): readonly string[] {
  const isDispatch = GITHUB_EVENT_NAME === "workflow_dispatch";
  const actor = parsed.status === "event" && "actor" in parsed.event ? parsed.event.actor : null;
  return [...trustedBots(allowedBots()), ...(isDispatch && actor !== null ? [actor] : [])];
}
