import type { Checkpoint } from "../checkpoint/schema.js";
import { remindersDue } from "../engine/wake.js";
import type { Issue } from "../ports.js";
import { renderReminder } from "../render/reminder.js";
import type { Dependencies } from "./dependencies.js";
import { replyOnce } from "./replies.js";

/** Reminds of questions that nobody has answered. Each reminder is one comment, however often somebody looks. */
export async function remind(
  deps: Dependencies,
  { latest, issue }: { readonly latest: Checkpoint | null; readonly issue: Issue },
): Promise<void> {
  for (const [phase, asked] of Object.entries(latest?.run_state?.questions ?? {})) {
    const due = remindersDue(asked, deps.clock.now());
    if (due === 0) continue;
    const text = renderReminder({ phase, asked, assignees: issue.assignees });
    await replyOnce(deps, issue.number, `reminder ${phase} ${asked.asked_at} ${due}`, text);
  }
}
