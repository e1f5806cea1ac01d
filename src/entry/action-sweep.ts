import * as core from "@actions/core";
import type { Dependencies } from "../app/dependencies.js";
import { handleEvent } from "../app/handle-event.js";
import type { Outcome } from "../app/outcome.js";
import { runsToResume } from "../app/resume-runs.js";
import { messageOf } from "../errors.js";
import { reportSweep } from "./action-report.js";

/** Goes on with all that was left in the middle, one run after the other; one that fails does not stop the rest. */
export async function sweep(
  deps: Dependencies,
  goOnLater: (outcome: Outcome) => Promise<string>,
): Promise<void> {
  const found: { issue: number; outcome: Outcome }[] = [];
  for (const event of await runsToResume(deps)) {
    if (deps.signal.aborted) break;
    try {
      const outcome = await handleEvent(deps, event);
      await goOnLater(outcome);
      found.push({ issue: event.issue, outcome });
    } catch (error) {
      core.setFailed(deps.redact(`#${event.issue}: ${messageOf(error)}`));
    }
  }
  await reportSweep(found);
}
