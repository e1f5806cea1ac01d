import { compareCheckpoints } from "../checkpoint/diff.js";
import type { Artifact, Checkpoint } from "../checkpoint/schema.js";
import { readArtifact } from "../engine/artifacts.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore } from "../ports.js";
import { renderDiffMarkdown } from "../render/diff.js";
import { findCheckpoint } from "./find-checkpoint.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import type { Handling } from "./run-loop.js";

/** Answers `/crunch diff`. */
export async function answerDiff(handling: Handling, before: string, after: string): Promise<Outcome> {
  const { deps, event, store } = handling;
  const first = await findCheckpoint(handling, before);
  if (first.status === "refused") return first.outcome;
  const second = await findCheckpoint(handling, after);
  if (second.status === "refused") return second.outcome;
  const diff = await compareWithNotes(store, first.checkpoint, second.checkpoint);
  const text = renderDiffMarkdown(diff);
  await replyOnce(deps, event.issue, event.key, text);
  return { status: "answered", checkpoint: second.checkpoint, text };
}

/** Two checkpoints of one chain compared, with what agents wrote in their notes and outputs where that differs. */
export async function compareWithNotes(store: CheckpointStore, a: Checkpoint, b: Checkpoint) {
  const texts = async (then: Readonly<Record<string, Artifact>>, now: Readonly<Record<string, Artifact>>) => {
    const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
    const changed = names.filter((name) => then[name]?.hash !== now[name]?.hash);
    const read = async (artifact: Artifact | undefined) =>
      artifact ? textOf(store, a.issue_number, artifact) : null;
    const pairs = changed.map(async (name) => {
      const [before, after] = await Promise.all([read(then[name]), read(now[name])]);
      return [name, { before, after }] as const;
    });
    return Object.fromEntries(await Promise.all(pairs));
  };
  const [notes, artifacts] = await Promise.all([texts(a.notes, b.notes), texts(a.artifacts, b.artifacts)]);
  return compareCheckpoints(a, b, { notes, artifacts });
}

/** A file that is gone or binary is still named by the comparison, only without its text. */
async function textOf(store: CheckpointStore, issue: number, artifact: Artifact): Promise<string | null> {
  try {
    const content = await readArtifact(store, issue, artifact);
    return content.includes(0) ? null : content.toString("utf8");
  } catch (error) {
    if (error instanceof CrunchError) return null;
    throw error;
  }
}
