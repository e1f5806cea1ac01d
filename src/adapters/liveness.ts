import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Holder, Lease } from "../checkpoint/schema.js";
import type { LivenessProbe } from "../ports.js";

const startedAt = new Date(processStart(process.pid) ?? Date.now() - process.uptime() * 1000).toISOString();
const activeSessions = new Set<string>();

export function thisProcess(): Holder {
  return { kind: "process", host: hostname(), pid: process.pid, started_at: startedAt };
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
      if (holder.kind === "process") return probeProcess(holder, lease.session_id);
      // A later attempt of the same run begins only after the earlier one has ended.
      if (runs.self?.runId === holder.run_id && runs.self.attempt > holder.run_attempt) return "dead";
      const status = await runs.runStatus(holder.run_id);
      if (status === "completed") return "dead";
      return status === null ? "unknown" : "alive";
    },
  };
}

function probeProcess(holder: Extract<Holder, { kind: "process" }>, sessionId: string) {
  if (holder.host !== hostname()) return "unknown";
  if (holder.pid === process.pid && holder.started_at === startedAt) {
    return activeSessions.has(sessionId) ? "alive" : "dead";
  }
  if (!isRunning(holder.pid)) return "dead";
  // The number may have been given to another process since.
  const begun = processStart(holder.pid);
  return begun !== null && Math.abs(begun - Date.parse(holder.started_at)) > 2_000 ? "dead" : "alive";
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When a process began, by the kernel's own record; null where there is none (not Linux, or it is gone). */
function processStart(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold spaces and brackets; the 20th field after it is the start in ticks since boot.
    const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
    const bootSeconds = Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]);
    const began = bootSeconds * 1000 + ticks * 10;
    return Number.isFinite(began) ? began : null;
  } catch {
    return null;
  }
}
