import { type Pair, pairs } from "./changes.js";
import type { Artifact, Checkpoint } from "./schema.js";
import { type TextDiff, textDiff } from "./text-diff.js";

type FileStatus = Checkpoint["files_modified"][number]["status"];

/** The contents of files by path or agent, where the caller has them. */
export type Contents = Readonly<
  Record<string, { readonly before: string | null; readonly after: string | null }>
>;

export interface ArtifactDiff {
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before: { readonly hash: string; readonly size_bytes: number } | null;
  readonly after: { readonly hash: string; readonly size_bytes: number } | null;
  readonly sizeDelta: number;
  /** Null when the contents were not given, or differ only in white space. */
  readonly diff: TextDiff | null;
}

export interface NoteDiff {
  readonly agent: string;
  readonly kind: "added" | "removed" | "changed";
  readonly diff: TextDiff | null;
}

/** A file of the repo that one phase changed and the other did not, or changed in another way. */
export interface FileDiff {
  readonly path: string;
  readonly before: FileStatus | null;
  readonly after: FileStatus | null;
}

export function artifactDiffs(before: Checkpoint, after: Checkpoint, contents: Contents): ArtifactDiff[] {
  return pairs(before.artifacts, after.artifacts)
    .filter(isOther)
    .map(({ key, before: old, after: now }) => ({
      path: now?.path ?? old?.path ?? key,
      kind: kindOf(old, now),
      before: old && { hash: old.hash, size_bytes: old.size_bytes },
      after: now && { hash: now.hash, size_bytes: now.size_bytes },
      sizeDelta: (now?.size_bytes ?? 0) - (old?.size_bytes ?? 0),
      diff: diffOf(contents, key, kindOf(old, now)),
    }));
}

/** Notes are told apart by their hash where checkpoints record it, else by what the caller read. */
export function noteDiffs(before: Checkpoint, after: Checkpoint, contents: Contents): NoteDiff[] {
  const recorded = pairs(before.notes, after.notes);
  const known = new Set(recorded.map(({ key }) => key));
  const read = Object.entries(contents).filter(([agent]) => !known.has(agent));
  return [
    ...recorded.filter(isOther).map(({ key, before: old, after: now }) => ({
      agent: key,
      kind: kindOf(old, now),
      diff: diffOf(contents, key, kindOf(old, now)),
    })),
    ...read
      .map(([agent, text]) => ({
        agent,
        kind: kindOf(text.before, text.after),
        diff: diffOf(contents, agent, kindOf(text.before, text.after)),
      }))
      .filter(({ diff }) => diff !== null),
  ];
}

/** Each phase lists what it changed itself: when another one has worked since, all of its list is new. */
export function fileDiffs(before: Checkpoint, after: Checkpoint): FileDiff[] {
  const isOtherWork =
    before.workflow_state.current_phase !== after.workflow_state.current_phase &&
    before.issue_snapshot.head_sha !== after.issue_snapshot.head_sha;
  return pairs(isOtherWork ? {} : statuses(before), statuses(after))
    .map(({ key, before: old, after: now }) => ({ path: key, before: old, after: now }))
    .filter((one) => one.before !== one.after);
}

function statuses({ files_modified }: Checkpoint): Record<string, FileStatus> {
  return Object.fromEntries(files_modified.map(({ path, status }) => [path, status]));
}

function isOther({ before, after }: Pair<Artifact>): boolean {
  return before?.hash !== after?.hash;
}

function kindOf(before: unknown, after: unknown): "added" | "removed" | "changed" {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}

/** A text that one side should have and that could not be read has no diff: it would look as if all of it were gone. */
function diffOf(contents: Contents, key: string, kind: ArtifactDiff["kind"]): TextDiff | null {
  const text = Object.hasOwn(contents, key) ? contents[key] : undefined;
  if (text === undefined) return null;
  const isUnread = kind === "changed" && (text.before === null || text.after === null);
  return isUnread ? null : textDiff(text.before ?? "", text.after ?? "");
}
