import { parseIndex } from "../../checkpoint/index-file.js";
import { checkpointPath, fileName, indexPath, latestPath } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";
import {
  decodeOfChain,
  encodeForChain,
  extendIndex,
  idInLatest,
  latestMissing,
  refuseOutside,
} from "../github/chain-rules.js";

/** What a memory store holds: the files of each issue's folder. */
export type MemoryChains = Map<number, ReadonlyMap<string, Buffer>>;

/** Chains in memory, kept as the same files as everywhere else: for tests and short-lived work. */
export function createMemoryStore(chains: MemoryChains = new Map()): CheckpointStore {
  function read(issue: number, path: string): Buffer | null {
    return chains.get(issue)?.get(path) ?? null;
  }

  function load(issue: number, id: string): Checkpoint | null {
    const bytes = read(issue, checkpointPath(id));
    return bytes && decodeOfChain(bytes, issue, id);
  }

  function latest(issue: number): Checkpoint | null {
    const text = read(issue, latestPath)?.toString("utf8");
    if (text === undefined) return null;
    const found = load(issue, idInLatest(text));
    if (!found) throw latestMissing(idInLatest(text));
    return found;
  }

  function put(checkpoint: Checkpoint, options: PutOptions): PutResult {
    const content = encodeForChain(checkpoint, options);
    const issue = checkpoint.issue_number;
    const before = latest(issue);
    if ((before?.checkpoint_id ?? null) !== options.expectedParent)
      return { status: "conflict", latest: before };
    const index = read(issue, indexPath)?.toString("utf8") ?? null;
    const files = new Map(chains.get(issue));
    for (const { path, content } of options.files ?? []) {
      if (content === null) files.delete(path);
      else files.set(path, Buffer.from(content));
    }
    files.set(checkpointPath(checkpoint.checkpoint_id), Buffer.from(content));
    files.set(indexPath, Buffer.from(extendIndex(index, options.expectedParent, checkpoint)));
    files.set(latestPath, Buffer.from(fileName(checkpoint.checkpoint_id)));
    chains.set(issue, files);
    return { status: "stored", commit: checkpoint.checkpoint_id };
  }

  return {
    put: async (checkpoint, options) => put(checkpoint, options),
    latest: async (issue) => latest(issue),
    load: async (issue, id) => load(issue, id),
    async list(issue) {
      const text = read(issue, indexPath);
      return text ? parseIndex(text.toString("utf8")).checkpoints : [];
    },
    async readFile(issue, path) {
      refuseOutside(path);
      const content = read(issue, path);
      return content && Buffer.from(content);
    },
    issues: async () => [...chains.keys()].sort((a, b) => a - b),
  };
}
