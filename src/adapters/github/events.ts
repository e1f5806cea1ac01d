import { z } from "zod";
import { parseArguments, parseCommand } from "../../commands/parse.js";
import type { CrunchEvent } from "../../engine/events.js";

const User = z.object({ login: z.string(), type: z.string().optional() });
const Label = z.object({ name: z.string() });
const IssueOfEvent = z.object({
  number: z.number().int().positive(),
  updated_at: z.string(),
  labels: z.array(Label).default([]),
  pull_request: z.unknown().optional(),
});

const Issues = z.object({ action: z.string(), issue: IssueOfEvent, label: Label.optional(), sender: User });
const IssueComment = z.object({
  action: z.string(),
  issue: IssueOfEvent,
  comment: z.object({ id: z.number(), body: z.string().nullish(), user: User }),
  sender: User,
});
const DispatchInputs = z.object({
  issue: z.union([z.string(), z.number()]).default(""),
  command: z.string().default(""),
});
const Dispatch = z.object({
  // GitHub sends null where the workflow defines no inputs.
  inputs: DispatchInputs.nullish().transform((inputs) => inputs ?? { issue: "", command: "" }),
  sender: User,
});

export type Parsed =
  | { readonly status: "event"; readonly event: CrunchEvent }
  /** Not about one issue: all unfinished runs are to be looked for. */
  | { readonly status: "sweep" }
  | { readonly status: "ignored"; readonly reason: string };

export interface EventOptions {
  /** Crunch's own login: what it does itself is no news to it. */
  readonly ownLogin: string;
  /** Other bots whose labels and comments count. */
  readonly allowedBots: readonly string[];
  /** Tells dispatches apart: the same for a run that is started again. */
  readonly runId?: number;
}

/** From GitHub's event to one of ours, or the reason why it is none. Needs nothing but the payload. */
export function parseEvent(name: string, payload: unknown, options: EventOptions): Parsed {
  switch (name) {
    case "issues":
      return fromIssues(Issues.parse(payload), options);
    case "issue_comment":
      return fromComment(IssueComment.parse(payload), options);
    case "workflow_dispatch":
      return fromDispatch(Dispatch.parse(payload), options);
    default:
      return ignored(`Crunch does not react to ${name}`);
  }
}

function fromIssues({ action, issue, label, sender }: z.infer<typeof Issues>, options: EventOptions): Parsed {
  const stranger = notHeard(sender, options);
  if (stranger) return stranger;
  if (issue.pull_request !== undefined && issue.pull_request !== null)
    return ignored("a pull request, not an issue");
  const about = { issue: issue.number, actor: sender.login };
  // Opening an issue with a label also sends `labeled`; the shared key makes one event of the two.
  const name =
    action === "opened" ? issue.labels.find((each) => each.name.startsWith("state:"))?.name : label?.name;
  if (!name?.startsWith("state:")) return ignored("not about a state label");
  if (action === "opened" || action === "labeled") {
    return event({ kind: "labeled", ...about, label: name, key: `label:${name}@${issue.updated_at}` });
  }
  if (action === "unlabeled") {
    return event({ kind: "unlabeled", ...about, label: name, key: `unlabel:${name}@${issue.updated_at}` });
  }
  return ignored(`Crunch does not react to issues.${action}`);
}

function fromComment(
  { action, issue, comment, sender }: z.infer<typeof IssueComment>,
  options: EventOptions,
): Parsed {
  // An old comment edited into a command is no command: nobody saw it being given.
  if (action !== "created") return ignored(`a comment was ${action}; only new ones count`);
  const stranger = notHeard(sender, options) ?? notHeard(comment.user, options);
  if (stranger) return stranger;
  const parsed = parseCommand(comment.body ?? "");
  if (!parsed) return ignored("no command in this comment");
  const about = {
    issue: issue.number,
    actor: comment.user.login,
    commentId: comment.id,
    key: `comment:${comment.id}`,
  };
  const isOnPull = issue.pull_request !== undefined && issue.pull_request !== null;
  const problem = isOnPull ? "commands belong on the issue, not on the pull request" : null;
  if (problem !== null) return event({ kind: "bad_command", ...about, problem });
  if (parsed.status === "unknown") return event({ kind: "bad_command", ...about, problem: parsed.problem });
  return event({ kind: "command", ...about, command: parsed.command });
}

function fromDispatch({ inputs, sender }: z.infer<typeof Dispatch>, options: EventOptions): Parsed {
  if (inputs.issue === "" && /^\s*(\/crunch\s+)?sweep\s*$/.test(inputs.command)) return { status: "sweep" };
  const issue = Number(inputs.issue);
  if (!Number.isSafeInteger(issue) || issue < 1) return ignored(`the input \`issue\` is not an issue number`);
  const parsed = parseArguments(
    inputs.command
      .trim()
      .replace(/^\/crunch\b/, "")
      .trim(),
  );
  const about = { issue, actor: sender.login, commentId: null, key: `dispatch:${options.runId ?? "none"}` };
  if (parsed.status === "unknown") return event({ kind: "bad_command", ...about, problem: parsed.problem });
  return event({ kind: "command", ...about, command: parsed.command });
}

/** GitHub tells the access of people only; a bot that is allowed counts as one with write access. */
export function trustedBots(allowedBots: readonly string[]): readonly string[] {
  return allowedBots.filter((login) => login.endsWith("[bot]"));
}

function notHeard(user: z.infer<typeof User>, { ownLogin, allowedBots }: EventOptions): Parsed | null {
  if (user.login === ownLogin) return ignored("Crunch did that itself");
  const isBot = user.type === "Bot" || user.login.endsWith("[bot]");
  return isBot && !allowedBots.includes(user.login)
    ? ignored(`${user.login} is a bot that is not on the allow list`)
    : null;
}

const event = (event: CrunchEvent): Parsed => ({ status: "event", event });
const ignored = (reason: string): Parsed => ({ status: "ignored", reason });
