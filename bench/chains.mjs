// Chains to measure with, made of checkpoints of about the size that a run in its third phase has.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryStore } from "../lib/adapters/memory/checkpoint-store.js";
import { emptyRun, firstCheckpoint, nextCheckpoint } from "../lib/checkpoint/create.js";
import { defaultLayout as layout } from "../lib/checkpoint/layout.js";
import { defaultRetention } from "../lib/checkpoint/retention.js";

export const issue = 42;

/** The clock stands still and ids are counted: however many are of one day, no two are the same. */
export function createMaker() {
  let made = 0;
  const hex = (number, digits) => number.toString(16).padStart(digits, "0");
  return {
    now: () => new Date("2025-01-14T10:00:00.000Z"),
    randomHex: () => hex(++made % 0x10000, 4) + hex(made, 12).padEnd(28, "0"),
    sessionId: "session-1",
  };
}

/** A checkpoint whose file has about 4 KB, and the files it names. */
export function firstOf(maker, ofIssue = issue) {
  const phases = Object.fromEntries(
    ["enrich", "build", "review"].map((phase) => [
      phase,
      { status: phase === "enrich" ? "running" : "pending", attempt: 1, version: 1, checkpoint_id: null },
    ]),
  );
  const snapshot = {
    title: "Durations are rounded the wrong way",
    body: "`formatDuration(59_999)` says 60 s, and should say 1 min.\n\n- [ ] round down\n- [ ] a test\n".repeat(
      4,
    ),
    labels: ["state:enrich", "bug"],
    assignees: ["octocat"],
    branch: "crunch/issue-42",
    head_sha: null,
    base_branch: "main",
    base_sha: "0123456789abcdef0123456789abcdef01234567",
  };
  const files = ["spec.md", "plan.md", "notes/analyst.md"].map((path) =>
    artifactOf(path, `${path}\n`.repeat(200)),
  );
  const [spec, plan, note] = files.map(({ artifact }) => artifact);
  const run = emptyRun({
    ...{ issue: ofIssue, workflow: "crunch", phase: "enrich", phases, snapshot, startedBy: "octocat", maker },
  });
  const change = { type: "PRE", trigger: "phase_start", outcome: null };
  const body = {
    artifacts: { [spec.path]: spec, [plan.path]: plan },
    notes: { analyst: note },
    agent_states: Object.fromEntries(
      ["analyst", "builder", "reviewer"].map((agent) => [agent, agentState(agent)]),
    ),
  };
  return {
    checkpoint: firstCheckpoint(run, { ...change, ...body }, maker),
    files: files.map(({ file }) => file),
  };
}

function agentState(agent) {
  return {
    status: "complete",
    token_usage: { input: 12_000, output: 3_400 },
    tool_invocations: ["read", "grep", "edit"].map((tool) => ({
      tool,
      at: null,
      summary: `${tool} src/duration.ts`,
    })),
    summary: `What the ${agent} found out about src/duration.ts and its callers, in a sentence or two.`,
  };
}

export function nextOf(parent, maker, changes = {}) {
  return nextCheckpoint(parent, { type: "POST", trigger: "manual", outcome: "succeeded", ...changes }, maker);
}

/** The next checkpoint with another note of the analyst's, as at the end of an agent's work. */
export function nextWithNote(parent, maker) {
  const { artifact, file } = artifactOf("notes/analyst.md", `${parent.checkpoint_id}\n`.repeat(80));
  return { checkpoint: nextOf(parent, maker, { notes: { analyst: artifact } }), files: [file] };
}

/** Every kind of checkpoint here is one that retention keeps for ever: that makes the longest history. */
export function putNext(store, checkpoint, files = []) {
  const expectedLatest = checkpoint.parent_checkpoint_id;
  return store.put(checkpoint, { expectedLatest, files, retention: defaultRetention });
}

/** The files of one growing chain, each time it has one of the `lengths`; every tenth checkpoint has a new note. */
export async function histories(lengths, maker) {
  const chains = new Map();
  const store = createMemoryStore(chains);
  const found = new Map();
  let { checkpoint, files } = firstOf(maker);
  for (let length = 1; length <= Math.max(...lengths); length++) {
    await putNext(store, checkpoint, files);
    if (lengths.includes(length)) found.set(length, { end: checkpoint, files: new Map(chains.get(issue)) });
    ({ checkpoint, files } =
      length % 10 === 0
        ? nextWithNote(checkpoint, maker)
        : { checkpoint: nextOf(checkpoint, maker), files: [] });
  }
  return found;
}

/** A history as the file store would have left it. */
export function writeHistory(root, files) {
  for (const path of ["artifacts", layout.chain])
    mkdirSync(join(root, layout.folder(issue), path), { recursive: true });
  for (const [path, content] of files) {
    const target = join(root, layout.folder(issue), path);
    if (path === layout.latest) symlinkSync(content.toString("utf8"), target);
    else writeFileSync(target, content);
  }
}

/** Where the file store makes all its files before it moves them. */
export const stagingOf = (root) => join(root, layout.folder(issue), layout.chain, ".staging");

/** Takes back what was put on top of a history, so that its folders are those of before. */
export function takeBack(root, files) {
  const folder = join(root, layout.folder(issue));
  for (const inner of ["artifacts", layout.chain])
    for (const { name, parentPath } of readdirSync(join(folder, inner), { withFileTypes: true }))
      if (name !== ".staging" && !files.has(`${inner}/${name}`)) rmSync(join(parentPath, name));
  rmSync(join(folder, layout.latest));
  symlinkSync(files.get(layout.latest).toString("utf8"), join(folder, layout.latest));
  writeFileSync(join(folder, layout.index), files.get(layout.index), { flush: true });
}

function artifactOf(path, text) {
  const content = Buffer.from(text);
  const hash = createHash("sha256").update(content).digest("hex");
  return {
    artifact: { path, hash, size_bytes: content.length },
    file: { path: `artifacts/${hash}`, mode: "100644", content, status: "added" },
  };
}
