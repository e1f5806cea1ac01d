import type { RunEvent } from "../checkpoint/run-event.js";
import type { Clock, Log } from "../ports.js";

/** Writes to the log what happens to the phases of an issue's run. */
export function createEventLog(log: Log, clock: Clock, issue: number): (event: RunEvent) => void {
  const begun = new Map<string, number>();

  function ended(phase: string, outcome: string, detail: string): void {
    const now = clock.now().getTime();
    const duration_ms = Math.max(0, now - (begun.get(phase) ?? now));
    const fields = { event: "phase_ended", issue, phase, outcome, duration_ms };
    log.info(`${phase} ${outcome}${detail === "" ? "" : `: ${detail}`}`, fields);
  }

  return (event) => {
    switch (event.type) {
      case "phase:started":
        begun.set(event.phase, clock.now().getTime());
        return;
      case "phase:succeeded":
        if (begun.has(event.phase)) ended(event.phase, "succeeded", "");
        return;
      case "phase:skipped":
        ended(event.phase, "skipped", event.reason);
        return;
      case "phase:failed":
        ended(event.phase, "failed", event.error.message);
        return;
      case "phase:retrying":
        ended(event.phase, "failed", `${event.error.message}; the next try is at ${event.retry_at}`);
    }
  };
}
