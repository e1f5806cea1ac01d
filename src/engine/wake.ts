import type { Checkpoint } from "../checkpoint/schema.js";

/** After one, three and seven times the wait that was asked for; then nobody is reminded any more. */
const reminders = [1, 3, 7];

/** How many reminders of a question are due by now. */
export function remindersDue(
  {
    question,
    asked_at,
  }: { readonly question: { readonly remind_after_ms?: number | undefined }; readonly asked_at: string },
  now: Date,
): number {
  const every = question.remind_after_ms;
  if (every === undefined) return 0;
  const passed = now.getTime() - Date.parse(asked_at);
  return reminders.filter((times) => passed >= times * every).length;
}

/** How many of the times a run waits for have come: of the next try of a phase, of a question's end, of reminders. */
export function timesCome({ orchestrator_state, run_state }: Checkpoint, now: Date): number {
  const isPast = (time: string | null | undefined) => time != null && Date.parse(time) <= now.getTime();
  const tries = Object.values(orchestrator_state.phases).filter(
    ({ status, retry_at }) => status === "pending" && isPast(retry_at),
  );
  const questions = Object.values(run_state?.questions ?? {});
  const ended = questions.filter(({ question }) => isPast(question.expires_at));
  return tries.length + ended.length + questions.reduce((sum, asked) => sum + remindersDue(asked, now), 0);
}
