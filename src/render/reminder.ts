import type { RunState } from "../checkpoint/run-event.js";
import { plain } from "../markdown.js";
import { moment } from "./moment.js";

/** A question that still waits, for those who are assigned to the issue. */
export function renderReminder(view: {
  readonly phase: string;
  readonly asked: RunState["questions"][string];
  readonly assignees: readonly string[];
}): string {
  const { phase, asked, assignees } = view;
  const who = assignees.length === 0 ? "" : `${assignees.map((login) => `@${login}`).join(" ")} `;
  const since = `\`${phase}\` waits for an answer since ${moment(asked.asked_at)}`;
  return `${who}${since}:\n\n> ${plain(asked.question.prompt)}\n\nThe comment that shows the status has the comments that answer it.`;
}
