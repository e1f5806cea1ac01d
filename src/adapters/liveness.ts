import type { Holder, Lease } from "../checkpoint/schema.js";
import type { LivenessProbe } from "../ports.js";
import { ownIdentity, probeProcess } from "./process/process-probe.js";

const activeSessions = new Set<string>();

/**
 * Who holds the leases of this process. In a container neither the host's name nor its processes outlive a restart,
 * so nobody could tell that the one before is dead; `CRUNCH_INSTANCE` names the place that only one process has at a
 * time.
 */
export function thisProcess(instance = process.env.CRUNCH_INSTANCE ?? ""): Holder {
  const own = ownIdentity();
  return { kind: "process", ...own, host: instance === "" ? own.host : `instance:${instance}` };
}

function probeHolder(holder: Extract<Holder, { kind: "process" }>, instance?: string) {
  const own = thisProcess(instance);
  if (own.kind !== "process" || !own.host.startsWith("instance:") || holder.host !== own.host)
    return probeProcess(holder);
  return holder.pid === own.pid && holder.started_at === own.started_at ? "own" : "dead";
}

/** Marks a session of this process as working for as long as `work` takes. */
export async function whileActive<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
  activeSessions.add(sessionId);
  try {
    return await work();
  } finally {
    activeSessions.delete(sessionId);
  }
}

export interface RunProbe {
  /** The status of an Actions run, or null when it can't be told. */
  runStatus(runId: number): Promise<string | null>;
  readonly self: { readonly runId: number; readonly attempt: number } | null;
  /** The name of this instance, where not that of the environment. */
  readonly instance?: string;
}

export function createLivenessProbe(runs: RunProbe): LivenessProbe {
  return {
    async probe(lease: Lease) {
      const { holder } = lease;
      if (holder.kind === "process") {
        const found = probeHolder(holder, runs.instance);
        return found === "own" ? (activeSessions.has(lease.session_id) ? "alive" : "dead") : found;
      }
      // A later attempt of the same run begins only after the earlier one has ended.
      if (runs.self?.runId === holder.run_id && runs.self.attempt > holder.run_attempt) return "dead";
      const status = await runs.runStatus(holder.run_id);
      if (status === "completed") return "dead";
      return status === null ? "unknown" : "alive";
    },
  };
}
