import { remindersDue } from "../engine/wake.js";
import { renderReminder } from "../render/reminder.js";
import { replyOnce } from "./replies.js";
import type { Handling } from "./run-loop.js";

/** Reminds of questions that nobody has answered. Each reminder is one comment, however often somebody looks. */
export async function remind({ deps, event, loaded }: Handling): Promise<void> {
  const { latest, issue } = loaded;
  for (const [phase, asked] of Object.entries(latest?.run_state?.questions ?? {})) {
    const due = remindersDue(asked, deps.clock.now());
    if (due === 0) continue;
    const text = renderReminder({ phase, asked, assignees: issue.assignees });
    await replyOnce(deps, event.issue, `reminder ${phase} ${asked.asked_at} ${due}`, text);
  }
}
