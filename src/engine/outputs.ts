import type { Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";
import { artifactOf } from "./artifacts.js";

type Seen = { readonly sizeBytes: number; readonly isBlank: boolean };

/** Every output of the issue after this phase: what earlier phases left, changed by what this one did. */
export function outputsSeen(
  before: Checkpoint["artifacts"],
  changes: readonly FileChange[],
): ReadonlyMap<string, Seen> {
  const seen = new Map<string, Seen>();
  for (const { path, size_bytes } of Object.values(before)) {
    seen.set(path, { sizeBytes: size_bytes, isBlank: size_bytes === 0 });
  }
  for (const { path, content } of changes) {
    if (content === null) seen.delete(path);
    else seen.set(path, { sizeBytes: content.length, isBlank: content.toString("utf8").trim() === "" });
  }
  return seen;
}

export function artifactsOf(
  before: Checkpoint["artifacts"],
  changes: readonly FileChange[],
): Checkpoint["artifacts"] {
  const artifacts = { ...before };
  for (const { path, content } of changes) {
    if (content === null) delete artifacts[path];
    else artifacts[path] = artifactOf(path, content);
  }
  return artifacts;
}
