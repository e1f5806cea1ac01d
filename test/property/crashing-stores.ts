import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../../src/adapters/fs/checkpoint-store.js";
import { createMemoryStore, type MemoryChains } from "../../src/adapters/memory/checkpoint-store.js";
import type { CheckpointStore } from "../../src/ports.js";

export class Crash extends Error {}

/** Chains whose writer may die. */
export interface CrashingChains {
  /** A store of a process that lives. */
  open(): CheckpointStore;
  /** A store of a process that dies in its first put, at the given step or when there is no such step, after it. */
  dying(step: number): CheckpointStore;
  close(): void;
}

/** Memory has no steps: a put has not been made, or has been and nobody was told. */
export function memoryChains(): CrashingChains {
  const chains: MemoryChains = new Map();
  const open = () => createMemoryStore(chains);
  return {
    open,
    dying(step) {
      const store = open();
      const put: CheckpointStore["put"] = async (checkpoint, options) => {
        if (step % 2 === 0) throw new Crash();
        await store.put(checkpoint, options);
        throw new Crash();
      };
      return { ...store, put };
    },
    close() {},
  };
}

/** These tests are about the order of steps, not about the disk: where there is memory to write to, they use that. */
const temporary = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/**
 * A process that dies does not clean up, so an exception would not be one. The folder is copied as it is at that step,
 * with the lock and all, and the chain goes on from the copy: what the writer did after that has never been.
 */
export function fileChains(): CrashingChains {
  const base = mkdtempSync(join(temporary, "crunch-property-"));
  let copies = 0;
  let root = join(base, "0");
  const open = () => createFileStore(root, { durability: "none" });
  return {
    open,
    dying(step) {
      let steps = 0;
      const died = join(base, String(++copies));
      const copy = () => cpSync(root, died, { recursive: true, verbatimSymlinks: true });
      const onStep = () => {
        if (steps++ === step) copy();
      };
      const store = createFileStore(root, { durability: "none", onStep });
      const put: CheckpointStore["put"] = async (checkpoint, options) => {
        await store.put(checkpoint, options);
        if (steps <= step) copy();
        root = died;
        throw new Crash();
      };
      return { ...store, put };
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}
