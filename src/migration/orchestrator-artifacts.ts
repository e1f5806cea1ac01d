import type { Artifact, Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";
import type { Json, SourceFiles } from "./imported.js";
import type { OrchestratorArtifact, OrchestratorCheckpoint } from "./orchestrator-schema.js";
import { isSafePath, sha256, storedArtifact } from "./outside.js";
import { quoted } from "./refusal.js";

export interface Artifacts {
  readonly artifacts: Checkpoint["artifacts"];
  readonly files: readonly FileChange[];
  /** What could not be taken over, and the names the orchestrator gave to the rest. */
  readonly kept: Readonly<Record<string, Json>>;
}

/** Finds the bytes of artifacts below `artifacts/`, and proves them by their hashes. */
export function createArtifactReader(root: string, sources: SourceFiles, problems: string[]) {
  const byHash = new Map<string, Buffer>();
  const placed = new Map<string, string>();
  for (const [path, bytes] of sources) {
    if (!path.startsWith(`${root}artifacts/`)) continue;
    const [, hash] = path.slice(`${root}artifacts/`.length).split("/");
    placed.set(sha256(bytes), path);
    byHash.set(sha256(bytes), bytes);
    if (hash !== undefined && hashIn(hash) !== sha256(bytes))
      problems.push(`${quoted(path)} does not have the hash that its name says`);
  }

  function verified(owner: string, artifact: OrchestratorArtifact): Artifact | null {
    const about = `${quoted(owner)}: the artifact ${quoted(artifact.path)}`;
    const hash = hashIn(artifact.hash);
    const bytes = hash === null ? undefined : byHash.get(hash);
    if (!isSafePath(artifact.path)) problems.push(`${about} is not a path inside the repo`);
    else if (hash === null) problems.push(`${about} has no SHA-256 hash`);
    else if (bytes === undefined)
      problems.push(`${about} is not there: no file under artifacts/ has its hash ${hash}`);
    else {
      if (artifact.size_bytes !== undefined && artifact.size_bytes !== bytes.length)
        problems.push(`${about} has ${bytes.length} bytes, not ${artifact.size_bytes}`);
      placed.delete(hash);
      return { path: artifact.path, hash, size_bytes: bytes.length };
    }
    return null;
  }

  return {
    of(owner: string, checkpoint: OrchestratorCheckpoint): Artifacts {
      const artifacts: Checkpoint["artifacts"] = {};
      const files = new Map<string, FileChange>();
      const names: Record<string, Json> = {};
      const refused: Record<string, Json> = {};
      const details: Record<string, Json> = {};
      for (const [name, artifact] of Object.entries(checkpoint.artifacts)) {
        const { path: _path, hash: _hash, size_bytes: _size, ...rest } = artifact;
        if (Object.keys(rest).length > 0) details[name] = rest;
        const found = verified(owner, artifact);
        const bytes = found && byHash.get(found.hash);
        if (!found || !bytes) {
          refused[name] = artifact as Json;
          continue;
        }
        // Ours are found by their path; two of one path can only be told apart by their names.
        const key = Object.hasOwn(artifacts, found.path) ? name : found.path;
        artifacts[key] = found;
        if (key !== name) names[name] = key;
        files.set(found.hash, storedArtifact(bytes));
      }
      const kept = { artifact_names: names, artifacts_left_out: refused, artifact_details: details };
      return {
        artifacts,
        files: [...files.values()],
        kept: Object.fromEntries(Object.entries(kept).filter(([, value]) => Object.keys(value).length > 0)),
      };
    },
    /** Files that no checkpoint names. */
    unused: () => [...placed.values()],
  };
}

function hashIn(text: string): string | null {
  const hash = text.toLowerCase().replace(/^sha-?256[:-]/, "");
  return /^[0-9a-f]{64}$/.test(hash) ? hash : null;
}
