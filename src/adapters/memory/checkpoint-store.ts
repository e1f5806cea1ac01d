import { decodeCheckpoint, encodeCheckpoint } from "../../checkpoint/codec.js";
import { appendToIndex, parseIndex } from "../../checkpoint/index-file.js";
import { checkpointPath, indexPath, latestPath } from "../../checkpoint/layout.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";
import type { Checkpoint } from "../../checkpoint/schema.js";

type Files = ReadonlyMap<string, Buffer>;

/** Chains in memory, kept as the same files as everywhere else: for tests and short-lived work. */
export function createMemoryStore(): CheckpointStore {
  const chains = new Map<number, Files>();

  function read(issue: number, path: string): Buffer | null {
    return chains.get(issue)?.get(path) ?? null;
  }

  function latest(issue: number): Checkpoint | null {
    const id = read(issue, latestPath)?.toString("utf8");
    const bytes = id ? read(issue, checkpointPath(id)) : null;
    return bytes ? decodeCheckpoint(bytes) : null;
  }

  function put(checkpoint: Checkpoint, options: PutOptions): PutResult {
    const issue = checkpoint.issue_number;
    const before = latest(issue);
    if ((before?.checkpoint_id ?? null) !== options.expectedParent) return { status: "conflict", latest: before };
    const files = new Map(chains.get(issue));
    const index = appendToIndex(read(issue, indexPath)?.toString("utf8") ?? null, checkpoint);
    files.set(checkpointPath(checkpoint.checkpoint_id), Buffer.from(encodeCheckpoint(checkpoint)));
    files.set(indexPath, Buffer.from(index));
    files.set(latestPath, Buffer.from(checkpoint.checkpoint_id));
    for (const { path, content } of options.files ?? []) {
      if (content === null) files.delete(path);
      else files.set(path, content);
    }
    chains.set(issue, files);
    return { status: "stored", commit: checkpoint.checkpoint_id };
  }

  return {
    put: async (checkpoint, options) => put(checkpoint, options),
    latest: async (issue) => latest(issue),
    async load(issue, id) {
      const bytes = read(issue, checkpointPath(id));
      return bytes ? decodeCheckpoint(bytes) : null;
    },
    async list(issue) {
      const text = read(issue, indexPath);
      return text ? parseIndex(text.toString("utf8")).checkpoints : [];
    },
    readFile: async (issue, path) => read(issue, path),
    issues: async () => [...chains.keys()],
  };
}
