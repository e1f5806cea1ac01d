import picomatch from "picomatch";
import type { Layout } from "../checkpoint/layout.js";
import type { FileChange } from "../ports.js";

export type Sorted =
  | { readonly status: "ok"; readonly code: readonly FileChange[]; readonly outputs: readonly FileChange[] }
  | { readonly status: "refused"; readonly paths: readonly string[] };

export interface PublishRules {
  readonly layout: Layout;
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
  const folder = `${rules.layout.folder(rules.issue)}/`;
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
  const folder = `${rules.layout.folder(rules.issue)}/`;
  const mayWrite = picomatch([...rules.writes], { dot: true });
  const isProtected = picomatch([...rules.protectedPaths], { dot: true, nocase: true });
  return ({ path, mode }) => {
    // A line break would slip through between the globs; nobody names a file so in good faith.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
    if (/[\u0000-\u001f\u007f]/.test(path) || path.split("/").includes("__proto__")) return "refused";
    if (path.startsWith(folder)) {
      return isReserved(path.slice(folder.length), rules.layout) || mode === "120000" ? "refused" : "output";
    }
    return isOfAnyIssue(path, rules.layout) || isProtected(path) || !mayWrite(path) ? "refused" : "code";
  };
}

/** Crunch's own part of an issue's folder. A file of that name would take the place of the whole folder. */
function isReserved(path: string, { chain }: Layout): boolean {
  const first = path.split("/")[0]?.toLowerCase();
  return first === chain.toLowerCase() || first === "artifacts" || first === "notes";
}

/** Other issues' folders, whatever the repo protects. Some file systems take `.Claude` for `.claude`. */
function isOfAnyIssue(path: string, { parent, issueNamed }: Layout): boolean {
  if (parent === "") return issueNamed(path.split("/")[0] ?? "") !== null;
  return `${path.toLowerCase()}/`.startsWith(`${parent.toLowerCase()}/`);
}
