import type { RunState } from "../checkpoint/run-event.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import { fenced, plain } from "../markdown.js";
import { moment } from "./moment.js";

type Asked = RunState["questions"][string];

/** What people are asked, and the very comments that answer it. */
export function renderQuestions({ run_state, checkpoint_id }: Checkpoint): string {
  return Object.entries(run_state?.questions ?? {})
    .map(([phase, asked]) => question(phase, asked, asked.checkpoint_id ?? checkpoint_id))
    .join("\n\n");
}

function question(phase: string, asked: Asked, id: string): string {
  const { prompt } = asked.question;
  return [
    `**\`${phase}\` asks**${soFar(asked)}`,
    `> ${plain(prompt)}`,
    `Answer with ${asked.question.type === "text" ? "a comment like this" : "one of these comments"}:`,
    fenced(answers(asked, id).join("\n")),
    deadline(asked),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** With the id, an answer can't be taken for one to a later question. */
function answers({ question: { type, choices } }: Asked, id: string): readonly string[] {
  if (type === "approval") return [`/crunch approve ${id}`, `/crunch reject ${id}`];
  if (type === "text") return [`/crunch answer ${id} your answer`];
  return choices.map((choice) => `/crunch answer ${id} ${choice.replace(/\s+/g, " ")}`);
}

function soFar({ question: { needed }, answers: given }: Asked): string {
  if (needed === 1) return ":";
  const who = given.length === 0 ? "" : ` (${given.map(({ by }) => `@\u200b${by}`).join(", ")})`;
  return `, and needs ${needed} people; ${given.length} so far${who}:`;
}

function deadline({ question: { expires_at, on_timeout } }: Asked): string {
  if (expires_at === null) return "";
  const then =
    on_timeout === "skip"
      ? "the phase is skipped"
      : on_timeout === null || on_timeout === "fail"
        ? "the phase fails"
        : `\`${plain(on_timeout)}\` counts as the answer`;
  return `Without an answer until ${moment(expires_at)}, ${then}.`;
}
