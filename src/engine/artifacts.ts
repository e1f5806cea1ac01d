import { createHash } from "node:crypto";
import type { Artifact } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore, FileChange } from "../ports.js";

export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Where the bytes of an artifact are, in the issue's folder: by their hash, so once for all who name them. */
export function artifactPath(hash: string): string {
  return `artifacts/${hash}`;
}

export function artifactOf(path: string, content: Buffer): Artifact {
  return { path, hash: sha256(content), size_bytes: content.length };
}

/** The contents of files as files under `artifacts/`, each hash once. */
export function asArtifacts(files: readonly FileChange[]): FileChange[] {
  const byHash = new Map<string, FileChange>();
  for (const { content } of files) {
    if (content === null) continue;
    const path = artifactPath(sha256(content));
    byHash.set(path, { path, mode: "100644", content, status: "added" });
  }
  return [...byHash.values()];
}

/** An artifact's bytes, verified: what does not match its hash is not what the checkpoint spoke of. */
export async function readArtifact(
  store: CheckpointStore,
  issue: number,
  artifact: { readonly path: string; readonly hash: string },
): Promise<Buffer> {
  const content = await store.readFile(issue, artifactPath(artifact.hash));
  if (content !== null && sha256(content) === artifact.hash) return content;
  const what = content === null ? "is missing" : "has been changed";
  throw new CrunchError({
    code: content === null ? "artifact_missing" : "artifact_changed",
    message: `\`${artifact.path}\` can't be restored: ${artifactPath(artifact.hash)} ${what} on the storage branch.`,
    hint: "Bring the file back from the branch's history, or comment `/crunch rollback <id>` with an earlier checkpoint.",
  });
}
