import type { CheckpointChange } from "../create.js";
import type { Moment } from "./moment.js";
import { phaseThatIs, type Run, refused } from "./run.js";
import { kept } from "./stop.js";
import { goingOn } from "./within.js";

/** Agents disagree. Saved before they debate, so that a session that takes over knows what is open. */
export function conflictStart(run: Run, moment: Moment<"conflict_start">): CheckpointChange {
  phaseThatIs(run, "running");
  const { conflict: id, about = null, between = [] } = moment;
  const { conflicts_in_progress: open } = run.acp_state;
  if (open.includes(id))
    throw refused("conflict_open", `The conflict ${id} is open already.`, "Give every conflict its own id.");
  return {
    ...goingOn(run, "conflict_start"),
    acp_state: { ...run.acp_state, conflicts_in_progress: [...open, id] },
    metadata: { conflict: { id, about, between: [...between] } },
  };
}

/** A conflict is settled. This may come at any time after a stop, too: it changes nothing else. */
export function conflictResolved(run: Run, moment: Moment<"conflict_resolved">): CheckpointChange {
  const { conflict: id, resolution, resolvedBy = null } = moment;
  const { conflicts_in_progress: open } = run.acp_state;
  if (!open.includes(id))
    throw refused(
      "conflict_not_open",
      `There is no open conflict ${JSON.stringify(id.slice(0, 60))}.`,
      open.length > 0 ? `Open are: ${open.slice(0, 20).join(", ")}.` : "No conflict is open.",
    );
  return {
    ...kept(run),
    trigger: "conflict_resolved",
    acp_state: { ...run.acp_state, conflicts_in_progress: open.filter((one) => one !== id) },
    metadata: { conflict: { id, resolution, resolved_by: resolvedBy } },
  };
}
