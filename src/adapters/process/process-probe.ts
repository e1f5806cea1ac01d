import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** One process of one machine, told apart from a later one that was given the same number. */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  readonly started_at: string;
}

const startedAt = new Date(processStart(process.pid) ?? Date.now() - process.uptime() * 1000).toISOString();
const host = `${hostname()}${pidNamespace()}`;

export function ownIdentity(): ProcessIdentity {
  return { host, pid: process.pid, started_at: startedAt };
}

/** "own" is this very process. On another machine nothing can be told. */
export function probeProcess(found: ProcessIdentity): "own" | "alive" | "dead" | "unknown" {
  if (found.host !== host) return "unknown";
  if (found.pid === process.pid && found.started_at === startedAt) return "own";
  if (!isRunning(found.pid)) return "dead";
  // The number may have been given to another process since.
  const begun = processStart(found.pid);
  return begun !== null && Math.abs(begun - Date.parse(found.started_at)) > 2_000 ? "dead" : "alive";
}

/** Containers may share a hostname but not their processes: a number means nothing outside its namespace. */
function pidNamespace(): string {
  try {
    return `#${/\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? ""}`;
  } catch {
    return "";
  }
}

export function isRunning(pid: number): boolean {
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
