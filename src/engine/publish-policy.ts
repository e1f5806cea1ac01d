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

export interface PublishRules {
  readonly issue: number;
  readonly writes: readonly string[];
  readonly protectedPaths: readonly string[];
}

/**
 * Sorts what the agent changed into code, for the issue's branch, and outputs, for the issue's folder beside the
 * checkpoints. One path outside what the phase may write refuses all of it: half of a change is no change.
 */
export function sortChanges(changes: readonly FileChange[], rules: PublishRules): Sorted {
  const kindOf = sorter(rules);
  const folder = `${issueFolder(rules.issue)}/`;
  const refused = changes.filter((change) => kindOf(change) === "refused");
  if (refused.length > 0) return { status: "refused", paths: refused.map(({ path }) => path) };
  const outputs = changes.filter((change) => kindOf(change) === "output");
  return {
    status: "ok",
    code: changes.filter((change) => kindOf(change) === "code"),
    outputs: outputs.map((change) => ({ ...change, path: change.path.slice(folder.length) })),
  };
}

/** Those of the changes that the phase may make; the others are left out. */
export function allowedChanges(changes: readonly FileChange[], rules: PublishRules): readonly FileChange[] {
  const kindOf = sorter(rules);
  return changes.filter((change) => kindOf(change) !== "refused");
}

function sorter(rules: PublishRules): (change: FileChange) => "code" | "output" | "refused" {
  const folder = `${issueFolder(rules.issue)}/`;
  const mayWrite = picomatch([...rules.writes], { dot: true });
  const isProtected = picomatch([...rules.protectedPaths], { dot: true, nocase: true });
  return ({ path, mode }) => {
    if (path.split("/").includes("__proto__")) return "refused";
    if (path.startsWith(folder)) {
      return reserved.test(path.slice(folder.length)) || mode === "120000" ? "refused" : "output";
    }
    return ofAnyIssue.test(path) || isProtected(path) || !mayWrite(path) ? "refused" : "code";
  };
}
