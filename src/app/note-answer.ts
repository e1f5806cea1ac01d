import type { Decision } from "../engine/decision.js";
import { isHeldByAnother } from "../engine/lease.js";
import { append } from "./append.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import type { Handling } from "./run-loop.js";

/** Writes down an answer while a session works on another phase. That session finds it with its next checkpoint. */
export async function noteAnswer(
  handling: Handling,
  { phase, response, by, askedAt }: Extract<Decision, { kind: "note" }>,
): Promise<Outcome | "gave_way"> {
  const { deps, event, sessionId } = handling;
  const answer = { response, by, at: deps.clock.now().toISOString() };
  const noted = await append(handling, async (latest) => {
    const { type, duration_ms, error, metadata, pause, partial_work, progress, run_state } = latest;
    const asked = run_state?.questions[phase];
    // Somebody may have asked anew, or this very person answered, since it was decided.
    if (!asked || asked.asked_at !== askedAt || asked.answers.some((each) => each.by === by)) return "void";
    const questions = { ...run_state.questions, [phase]: { ...asked, answers: [...asked.answers, answer] } };
    return {
      isBeside: true,
      change: {
        ...{ type, duration_ms, error, metadata, pause, partial_work, progress },
        ...{ trigger: "approval", outcome: response === "approve" ? "approved" : null },
        note: `answered by @${by}`,
        run_state: { ...run_state, questions },
        events: [{ type: "input:received", phase, answer }],
      },
    };
  });
  if (!noted || noted === "held" || noted === "void") return "gave_way";
  // Whoever worked has ended meanwhile: the event is decided upon anew, and the answer carried out at once.
  if (!(await isHeldByAnother(noted, sessionId, deps.clock, deps.liveness))) return "gave_way";
  if (event.kind === "command" && event.commentId !== null) await deps.tracker.react(event.commentId, "+1");
  const text = `Noted. It counts as soon as what is being worked on now has ended.`;
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "saved", checkpoint: noted, text };
}
