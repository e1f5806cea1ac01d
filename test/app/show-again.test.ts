import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/adapters/memory/checkpoint-store.js";
import type { Handling } from "../../src/app/run-loop.js";
import { showAgain } from "../../src/app/show-again.js";
import { type CheckpointChange, nextCheckpoint } from "../../src/checkpoint/create.js";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import type { Command } from "../../src/commands/command.js";
import { aCheckpoint, aLease, aMaker, anIssue, clock, unattended } from "../builders.js";

const key = "comment:7";

async function aChainWith(...changes: readonly Partial<CheckpointChange>[]) {
  const store = createMemoryStore(new Map());
  const maker = aMaker();
  let latest: Checkpoint = { ...aCheckpoint(), sequence: 1, parent_checkpoint_id: null };
  await store.put(latest, { expectedLatest: null });
  const chain = [latest];
  for (const change of changes) {
    const known = { type: "PRE", trigger: "phase_start", outcome: null } as const;
    const next = nextCheckpoint(latest, { ...known, ...change }, maker);
    await store.put(next, { expectedLatest: latest.checkpoint_id });
    chain.push(next);
    latest = next;
  }
  return { store, chain, latest };
}

type Made = Awaited<ReturnType<typeof aChainWith>>;

/** The event delivered once more, and what came of it on the issue. */
async function again({ store, latest }: Made, command: Command, labels: readonly string[] = ["state:docs"]) {
  const did: string[] = [];
  const tracker = {
    replyOnce: async (_: number, __: string, body: string) => void did.push(`reply ${body}`),
    upsertComment: async () => did.push("comment"),
    addLabel: async (_: number, label: string) => void did.push(`+${label}`),
    removeLabel: async (_: number, label: string) => void did.push(`-${label}`),
  };
  const plan = {
    ...{ workflow: unattended, advance: "auto", layout: defaultLayout, isCompressed: false },
    ...{ phases: {}, branch: "feature/x" },
  };
  const deps = {
    ...{ tracker, clock, holder: aLease().holder, code: { head: async () => null } },
    ...{ checks: { report: async () => "reported" }, log: { info() {}, warn() {}, error() {} } },
  };
  const handling = {
    ...{ deps, store, sessionId: "B", storageBranch: "crunch/issue-42", situation: {} },
    event: { kind: "command", command, issue: 42, key, actor: "mona", commentId: 7 },
    loaded: { latest, issue: anIssue({ labels }), plan, seen: null, obstacle: null },
  } as unknown as Handling;
  const outcome = await showAgain(handling);
  return { did, outcome };
}

const heard = (...handled_events: string[]) => ({
  orchestrator_state: { ...aCheckpoint().orchestrator_state, handled_events },
});
const first = aCheckpoint().checkpoint_id;
const rolledBack: Partial<CheckpointChange> = {
  ...{ trigger: "rollback", pause: { kind: "rollback" }, ...heard(key) },
  metadata: { rollback_from: "CP-docs-20250114-beef", rollback_to: first, archived: [] },
};
const rollback: Command = { name: "rollback", checkpoint: first };

describe("a command whose effects were cut off by a crash, delivered again", () => {
  it("shows a rollback and says how to undo it", async () => {
    const made = await aChainWith(rolledBack);
    const { did, outcome } = await again(made, rollback);
    expect(did).toEqual(["comment", "+state:enrich", "-state:docs", expect.stringContaining("Rolled back")]);
    expect(did.at(-1)).toContain(`\`${first}\``);
    expect(did.at(-1)).toContain("/crunch rollback CP-docs-20250114-beef");
    expect(outcome.status).toBe("answered");
  });

  it("leaves the label off when a person has taken it off since", async () => {
    const { did } = await again(await aChainWith(rolledBack), rollback, ["bug"]);
    expect(did.filter((each) => /^[+-]/.test(each))).toEqual([]);
  });

  it("only says so when the run has gone on since", async () => {
    const made = await aChainWith(rolledBack, heard(key, "comment:8"));
    expect((await again(made, rollback)).did).toEqual([expect.stringContaining("Rolled back")]);
  });

  it("says what a save by hand was saved as, with its note", async () => {
    const made = await aChainWith(
      { trigger: "manual", note: "before @lunch", ...heard(key) },
      heard(key, "x"),
    );
    const { did } = await again(made, { name: "checkpoint", note: "before @lunch" });
    expect(did).toEqual([`reply Saved as \`${made.chain[1]?.checkpoint_id}\` (before @\u200blunch).`]);
  });

  it("is ignored when nothing was made of it", async () => {
    const made = await aChainWith({ ...rolledBack, ...heard("comment:1") });
    const { did, outcome } = await again(made, rollback);
    expect([did, outcome.status]).toEqual([[], "ignored"]);
  });
});
