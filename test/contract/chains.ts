import { expect } from "vitest";
import { verifyChain } from "../../src/app/verify-chain.js";
import { emptyRun, firstCheckpoint, type Maker, nextCheckpoint } from "../../src/checkpoint/create.js";
import type { Chain } from "../../src/checkpoint/invariants.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import type { CheckpointStore, FileChange, PutOptions, PutResult } from "../../src/ports.js";

let made = 0;
const day = new Date("2025-01-14T10:00:00.000Z");
/** Every checkpoint gets another id; the clock stands still, because nothing may depend on it. */
const maker: Maker = {
  now: () => day,
  randomHex: () => (++made).toString(16).padStart(4, "0").padEnd(32, "0"),
  sessionId: "session-1",
};

/** The first checkpoint of a chain. */
export function aFirst(issue: number, changes: Partial<Checkpoint> = {}): Checkpoint {
  const snapshot = {
    title: "Übersicht 🦀 “quoted”",
    body: "First line\r\n\n- [ ] a task: yes\n\t# no comment\n",
    labels: ["state:enrich", "yes"],
    assignees: [],
    branch: null,
    head_sha: null,
    base_branch: "main",
    base_sha: "0123456789abcdef0123456789abcdef01234567",
  };
  const run = emptyRun({
    ...{ issue, workflow: "crunch", phase: "enrich", phases: {}, snapshot, startedBy: "octocat", maker },
  });
  const change = { type: "PRE", trigger: "phase_start", outcome: null } as const;
  return { ...firstCheckpoint(run, change, maker), ...changes };
}

/** The checkpoint after another. */
export function aNext(parent: Checkpoint, changes: Partial<Checkpoint> = {}): Checkpoint {
  const change = { type: "POST", trigger: "manual", outcome: "succeeded" } as const;
  return { ...nextCheckpoint(parent, change, maker), ...changes };
}

export function put(
  store: CheckpointStore,
  checkpoint: Checkpoint,
  files: readonly FileChange[] = [],
  options: Partial<PutOptions> = {},
): Promise<PutResult> {
  return store.put(checkpoint, { expectedLatest: checkpoint.parent_checkpoint_id, files, ...options });
}

/** A chain of so many checkpoints, stored. */
export async function aChain(store: CheckpointStore, issue: number, length: number): Promise<Checkpoint[]> {
  const chain = [aFirst(issue)];
  while (chain.length < length) chain.push(aNext(last(chain)));
  for (const checkpoint of chain) expect((await put(store, checkpoint)).status).toBe("stored");
  return chain;
}

export function last<T>(list: readonly T[]): T {
  const found = list.at(-1);
  if (found === undefined) throw new Error("The list is empty");
  return found;
}

export const file = (path: string, content: string | Buffer | null, mode: FileChange["mode"] = "100644") =>
  ({
    path,
    mode,
    content: typeof content === "string" ? Buffer.from(content) : content,
    status: content === null ? "deleted" : "added",
  }) satisfies FileChange;

/** Reads a chain back whole and holds every invariant against it. Every test that touches a chain ends with this. */
export async function expectWhole(store: CheckpointStore, issue: number): Promise<Chain> {
  const { chain, problems } = await verifyChain(store, issue);
  expect(problems).toEqual([]);
  return chain;
}
