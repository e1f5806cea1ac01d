import type { Holder, Lease } from "../checkpoint/schema.js";
import type { LivenessProbe } from "../ports.js";
import { ownIdentity, probeProcess } from "./process/process-probe.js";

const activeSessions = new Set<string>();

export function thisProcess(): Holder {
  return { kind: "process", ...ownIdentity() };
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
}

export function createLivenessProbe(runs: RunProbe): LivenessProbe {
  return {
    async probe(lease: Lease) {
      const { holder } = lease;
      if (holder.kind === "process") {
        const found = probeProcess(holder);
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
