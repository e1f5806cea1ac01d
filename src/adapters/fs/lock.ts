import { randomBytes } from "node:crypto";
import { lstatSync, readlinkSync, symlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { CrunchError } from "../../errors.js";
import { ownIdentity, probeProcess } from "../process/process-probe.js";
import { hasCode, ifThere, removeFile } from "./disk.js";

const Holder = z.object({ host: z.string(), pid: z.number().int(), started_at: z.string() });
/** For holders that nothing can be told of. */
const longestPutMs = 60_000;
const held = new Set<string>();

export interface Lock {
  /** Whether the one who had it before died with it: then there may be work of theirs to finish. */
  readonly isInherited: boolean;
  /** Throws when somebody has taken it meanwhile: asked right before what can't be taken back. */
  check(): void;
  release(): void;
}

/**
 * A lock that a dead process does not keep. It is a symlink whose target says who holds it: made in one step with
 * that content, so that nobody ever sees a lock without its holder.
 */
export async function acquireLock(path: string, timeoutMs: number): Promise<Lock> {
  const mine = JSON.stringify({ ...ownIdentity(), nonce: randomBytes(8).toString("hex") });
  const deadline = performance.now() + timeoutMs;
  let isInherited = false;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    if (take(path, mine)) return heldLock(path, mine, isInherited);
    const theirs = ifThere(() => readlinkSync(path));
    if (theirs === null) continue;
    if (isDead(theirs, path)) {
      isInherited = breakLock(path, theirs) || isInherited;
      continue;
    }
    if (performance.now() > deadline) throw locked(path, theirs);
    await sleep(waitMs * (0.5 + Math.random()));
  }
}

function heldLock(path: string, mine: string, isInherited: boolean): Lock {
  return {
    isInherited,
    check() {
      const holder = ifThere(() => readlinkSync(path));
      if (holder !== mine) throw locked(path, holder ?? "");
    },
    release: () => release(path, mine),
  };
}

function take(path: string, mine: string): boolean {
  try {
    symlinkSync(mine, path);
    held.add(mine);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function release(path: string, mine: string): void {
  held.delete(mine);
  if (ifThere(() => readlinkSync(path)) === mine) removeFile(path);
}

/**
 * Of a holder on another machine or in another container nothing can be told but the lock's age. No put takes that
 * long, and one that has slept for so long finds its lock gone before it commits.
 */
function isDead(holder: string, path: string): boolean {
  const parsed = Holder.safeParse(ifJson(holder));
  const found = parsed.success ? probeProcess(parsed.data) : "unknown";
  if (found === "unknown")
    return Date.now() - (ifThere(() => lstatSync(path))?.mtimeMs ?? Date.now()) > longestPutMs;
  return found === "dead" || (found === "own" && !held.has(holder));
}

/**
 * Two may find the same dead holder, and the slower one must not remove the lock that the quicker one has taken by
 * then: so the removal has a lock of its own, under which the holder is looked at again.
 */
function breakLock(path: string, dead: string): boolean {
  const breaking = `${path}-breaking`;
  const mine = JSON.stringify({ ...ownIdentity(), nonce: randomBytes(8).toString("hex") });
  if (!take(breaking, mine)) {
    const other = ifThere(() => readlinkSync(breaking));
    // Held for microseconds; somebody died within them.
    if (other !== null && isDead(other, breaking)) removeFile(breaking);
    return false;
  }
  try {
    if (ifThere(() => readlinkSync(path)) !== dead) return false;
    removeFile(path);
    return true;
  } finally {
    release(breaking, mine);
  }
}

function ifJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function locked(path: string, holder: string): CrunchError {
  const { success, data } = Holder.safeParse(ifJson(holder));
  const who = success ? `process ${data.pid} on ${data.host}` : "somebody";
  return new CrunchError({
    code: "checkpoint_store_locked",
    message: `The checkpoint could not be stored: ${who} has been writing to the same chain all the time.`,
    hint: `Try again in a minute. If nobody is writing there, delete ${path}.`,
  });
}
