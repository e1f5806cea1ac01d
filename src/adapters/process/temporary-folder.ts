import { createHash } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownIdentity } from "./process-probe.js";

/** Processes of another machine or container may share the folder, but not the numbers of processes. */
const machine = createHash("sha256").update(ownIdentity().host).digest("hex").slice(0, 8);

/** A new folder whose name tells whose it is, so that a later process can clear it away after a crash. */
export function temporaryFolder(kind: string, root: string = tmpdir()): Promise<string> {
  return mkdtemp(join(root, `crunch-${kind}-${machine}-${process.pid}-`));
}

/** The process that made a folder, by its name; null for a folder that is none of this machine's. */
export function ownerOf(name: string): number | null {
  const match = /^crunch-[a-z]+-([0-9a-f]{8})-(\d+)-\w+$/.exec(name);
  return match?.[1] === machine ? Number(match[2]) : null;
}
