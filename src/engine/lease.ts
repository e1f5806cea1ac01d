import type { Checkpoint, Lease } from "../checkpoint/schema.js";
import type { Clock, LivenessProbe } from "../ports.js";
import type { Session } from "./session.js";

/** Time for the gates' bookkeeping, the commit and the projections on top of what the phase itself may take. */
const marginMs = 5 * 60_000;
/** How long the projections of a commit may take before another session may redo them. */
const projectionMs = 2 * 60_000;

type Claimant = Pick<Session, "id" | "holder" | "clock">;

export function leaseFor(session: Claimant, workMs: number): Lease {
  const now = session.clock.now().getTime();
  return {
    session_id: session.id,
    holder: session.holder,
    claimed_at: new Date(now).toISOString(),
    expires_at: new Date(now + workMs + marginMs).toISOString(),
  };
}

/** Held just long enough to show what was committed. */
export function closingLease(session: Claimant): Lease {
  const now = session.clock.now().getTime();
  return { ...leaseFor(session, 0), expires_at: new Date(now + projectionMs).toISOString() };
}

/** Whether somebody else may be working: the lease has not run out, and its holder is not proven dead. */
export async function isHeldByAnother(
  latest: Checkpoint | null,
  sessionId: string,
  clock: Clock,
  liveness: LivenessProbe,
): Promise<boolean> {
  const lease = latest?.lease;
  if (!lease || lease.session_id === sessionId) return false;
  if (Date.parse(lease.expires_at) <= clock.now().getTime()) return false;
  return (await liveness.probe(lease)) !== "dead";
}
