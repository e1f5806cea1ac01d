import type { RunState } from "../checkpoint/run-event.js";
import type { Decision } from "./decision.js";
import { ifStillAsked } from "./if-fresh.js";
import { refuse } from "./refuse.js";
import { currentStanding, phasesOf, type Situation } from "./situation.js";

type Asked = RunState["questions"][string];

/** `/crunch approve`, `reject` and `answer`: what a person says to the question of a phase. */
export function onReply(situation: Situation, said: string, checkpoint: string | null): Decision {
  const { latest, issue, isHeld, event } = situation;
  if (!latest) return refuse("nothing_asked", "no run has begun on this issue");
  if (!issue.isOpen) return refuse("issue_closed", "the issue is closed");
  const by = "actor" in event ? event.actor : "crunch";
  const phases = phasesOf(situation);
  // A workflow may have lost a phase that has asked.
  const open = Object.entries(latest.run_state?.questions ?? {}).filter(([name]) =>
    Object.hasOwn(situation.workflow.phases, name),
  );
  const standing = currentStanding(situation);
  // A run of old has asked without writing down what.
  if (
    open.length === 0 &&
    standing.kind === "waiting_for_person" &&
    standing.next !== null &&
    said === "approve"
  )
    return ifStillAsked(situation, { kind: "approve", phase: standing.phase, phases, by });
  if (open.length === 0) return refuse("nothing_asked", "no question is open on this issue");
  const idOf = (asked: Asked) => asked.checkpoint_id ?? latest.checkpoint_id;
  const meant = checkpoint === null ? open : open.filter(([, asked]) => idOf(asked) === checkpoint);
  if (meant.length === 0)
    return refuse(
      "nothing_asked",
      `\`${checkpoint}\` asks nothing that is still open; ${listed(open, idOf)}`,
    );
  const [[phase, asked], ...others] = meant as [[string, Asked], ...[string, Asked][]];
  if (others.length > 0)
    return refuse(
      "not_an_answer",
      `several questions are open, so say which is meant; ${listed(open, idOf)}`,
    );
  const response = answerTo(asked, said);
  if (response === null)
    return refuse("not_an_answer", `that is no answer to what \`${phase}\` asks: ${expected(asked)}`);
  if (asked.answers.some((each) => each.by === by))
    return refuse(
      "not_an_answer",
      `@${by} has answered already, and ${asked.question.needed} people have to`,
    );
  if (isHeld) {
    // Nobody can ask again before the session that works now has ended.
    if (situation.freshness?.findings.some(({ severity }) => severity !== "warning"))
      return refuse(
        "not_an_answer",
        "the issue or its code has changed since it was asked; answer when what runs now has ended",
      );
    return { kind: "note", phase, response, by, askedAt: asked.asked_at };
  }
  const step =
    response === "approve"
      ? ({ kind: "approve", phase, phases, by } as const)
      : ({ kind: "respond", phase, phases, by, response } as const);
  return ifStillAsked(situation, step);
}

/** One of its choices, whatever the case; for a free text, the text. */
function answerTo({ question: { type, choices } }: Asked, said: string): string | null {
  if (type === "text") return said === "" ? null : said;
  return choices.find((choice) => choice.toLowerCase() === said.toLowerCase()) ?? null;
}

function expected({ question: { choices } }: Asked): string {
  return `it is one of ${choices.map((choice) => `\`${choice.replace(/[`\r\n]/g, "?")}\``).join(", ")}`;
}

function listed(open: readonly (readonly [string, Asked])[], idOf: (asked: Asked) => string): string {
  return `open: ${open.map(([phase, asked]) => `\`${phase}\` (\`${idOf(asked)}\`)`).join(", ")}`;
}
