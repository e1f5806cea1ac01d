import { commandList } from "../commands/index.js";
import type { RefusalCode } from "../engine/decision.js";
import { fenced } from "../markdown.js";

export interface RefusalView {
  readonly code: RefusalCode;
  /** Why, in Crunch's own words: safe Markdown. */
  readonly detail: string;
  /** The agents a repo may pick on this bot; null where it defines its own. */
  readonly agentsOffered: readonly string[] | null;
}

/** What a person is told whose wish is not carried out: what, why, and how to go on. */
export function renderRefusal(view: RefusalView): string {
  const sentence = view.detail.endsWith("\n") ? view.detail : `${view.detail}.\n`;
  return `**Crunch did not do that**: ${sentence}\n${howToGoOn(view)}`;
}

function howToGoOn({ code, agentsOffered }: RefusalView): string {
  switch (code) {
    case "no_permission":
      return "Ask somebody with write access to this repository to do it.";
    case "unknown_label":
      return "Use one of those labels instead; this one was left as it is.";
    case "terminal_label":
      return "Add the label of the phase you want to run, or comment `/crunch` to go on.";
    case "busy":
      return "Wait until it has ended; the comment that shows the status says so. Then try again.";
    case "unknown_command":
      return `These exist:\n${commandList()}`;
    case "no_agent":
      return agentsOffered === null ? defineAnAgent() : pickAnAgent(agentsOffered);
    case "disabled":
      return "Set it to `true` on the default branch, then comment `/crunch`.";
    case "config_invalid":
      return "Correct the file on the default branch, then comment `/crunch`.";
    case "not_allowed":
      return [
        "A bot runs on its operator's machine only what the operator has allowed. Pick among that in `.github/crunch.yml`,",
        "or use Crunch as a GitHub Action, which runs your own commands on your repository's runner. Then comment `/crunch`.",
      ].join(" ");
    case "waiting_for_person":
      return "Nothing runs until then.";
    case "unknown_checkpoint":
      return "The storage branch has the whole list in `checkpoints/index.yaml`.";
    case "branch_deleted":
      return "Restore the branch and comment `/crunch resume`, or comment `/crunch restart` to begin again with the first phase.";
    case "nothing_asked":
    case "not_an_answer":
      return "The comment that shows the status has what is asked, and the comments that answer it.";
    case "nothing_to_resume":
    case "nothing_to_save":
      return "Add the label `state:enrich`, or comment `/crunch`, to begin.";
    case "issue_closed":
      return "Reopen it, then add the label again or comment `/crunch`.";
  }
}

function defineAnAgent(): string {
  const example = [
    "agent: claude",
    "agents:",
    "  claude:",
    "    command: [node, scripts/agent.mjs]   # a list of words, never run by a shell",
    "    timeout: 1h",
    "    pass_env: [ANTHROPIC_API_KEY]",
  ].join("\n");
  return [
    "Name one in `.github/crunch.yml` on the default branch, for example:",
    fenced(example, "yaml"),
    "The command gets the issue as JSON on standard input and works in a checkout of this repository. Then comment `/crunch`.",
  ].join("\n\n");
}

function pickAnAgent(offered: readonly string[]): string {
  if (offered.length === 0) {
    return "This bot's operator has not allowed any agent yet. Once there is one, name it with `agent:` in `.github/crunch.yml` on the default branch and comment `/crunch`.";
  }
  return [
    "Pick one that this bot offers in `.github/crunch.yml` on the default branch:",
    fenced(`agent: ${offered[0]}   # offered: ${offered.join(", ")}`, "yaml"),
    "Then comment `/crunch`.",
  ].join("\n\n");
}
