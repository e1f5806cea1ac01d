import picomatch from "picomatch";
import { issueFolder } from "../checkpoint/layout.js";
import type { FileChange } from "../ports.js";

export type Sorted =
  | { readonly status: "ok"; readonly code: readonly FileChange[]; readonly outputs: readonly FileChange[] }
  | { readonly status: "refused"; readonly paths: readonly string[] };

/** Crunch's own part of an issue's folder. A file of that name would take the place of the whole folder. */
const reserved = /^(checkpoints|artifacts|notes)(\/|$)/i;
/** Other issues' folders, whatever the repo protects. */
const ofAnyIssue = /^\.claude\/crunch(\/|$)/i;

/**
 * Sorts what the agent changed into code, for the issue's branch, and outputs, for the issue's folder beside the
 * checkpoints. One path outside what the phase may write refuses all of it: half of a change is no change.
 */
export function sortChanges(
  changes: readonly FileChange[],
  options: {
    readonly issue: number;
    readonly writes: readonly string[];
    readonly protectedPaths: readonly string[];
  },
): Sorted {
  const folder = `${issueFolder(options.issue)}/`;
  const mayWrite = picomatch([...options.writes], { dot: true });
  const isProtected = picomatch([...options.protectedPaths], { dot: true, nocase: true });
  const code: FileChange[] = [];
  const outputs: FileChange[] = [];
  const refused: string[] = [];
  for (const change of changes) {
    if (change.path.startsWith(folder)) {
      const path = change.path.slice(folder.length);
      if (reserved.test(path) || change.mode === "120000") refused.push(change.path);
      else outputs.push({ ...change, path });
    } else if (ofAnyIssue.test(change.path) || isProtected(change.path) || !mayWrite(change.path)) {
      refused.push(change.path);
    } else code.push(change);
  }
  return refused.length > 0 ? { status: "refused", paths: refused } : { status: "ok", code, outputs };
}
