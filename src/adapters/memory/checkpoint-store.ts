import { type CheckpointIndex, parseIndex, parsePage } from "../../checkpoint/index-file.js";
import { fileName } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { defaultStorage, type StorageOptions } from "../../checkpoint/storage-options.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";
import * as rules from "../chain-rules.js";
import { listed } from "../list-chain.js";

/** What a memory store holds: the files of each issue's folder. */
export type MemoryChains = Map<number, Map<string, Buffer>>;

/** Chains in memory, kept as the same files as everywhere else: for tests and short-lived work. */
export function createMemoryStore(
  chains: MemoryChains = new Map(),
  options: Partial<StorageOptions> = {},
): CheckpointStore {
  const storage = { ...defaultStorage, ...options };
  const { layout } = storage;
  const decoded = new WeakMap<Buffer, Checkpoint>();
  const parsed = new WeakMap<Buffer, CheckpointIndex>();

  const read = (issue: number, path: string): Buffer | null => chains.get(issue)?.get(path) ?? null;

  function load(issue: number, id: string): Checkpoint | null {
    const bytes = read(issue, layout.checkpoint(id)) ?? read(issue, layout.checkpoint(id, true));
    if (bytes === null) return null;
    const known = decoded.get(bytes);
    if (known?.checkpoint_id === id && known.issue_number === issue) return known;
    const checkpoint = rules.decodeOfChain(bytes, issue, id);
    decoded.set(bytes, checkpoint);
    return checkpoint;
  }

  function latestId(issue: number): string | null {
    const text = read(issue, layout.latest)?.toString("utf8");
    return text === undefined ? null : rules.idInLatest(text);
  }

  function latest(issue: number): Checkpoint | null {
    const id = latestId(issue);
    if (id === null) return null;
    const found = load(issue, id);
    if (!found) throw rules.latestMissing(id);
    return found;
  }

  function indexOf(issue: number): CheckpointIndex | null {
    const bytes = read(issue, layout.index);
    return bytes && (parsed.get(bytes) ?? parseIndex(bytes.toString("utf8")));
  }

  function put(checkpoint: Checkpoint, options: PutOptions): PutResult {
    const content = rules.encodeForChain(checkpoint, options, storage);
    const { issue_number: issue, checkpoint_id: id } = checkpoint;
    const end = rules.endFor(
      checkpoint,
      () => latest(issue),
      () => latestId(issue),
    );
    if (end.id !== options.expectedLatest) return { status: "conflict", latest: end.latest };
    const index = indexOf(issue);
    const next = rules.extendChain(index, checkpoint, options, storage);
    const parent = rules.parentToFind(index, checkpoint);
    if (parent !== null && load(issue, parent) === null) throw rules.parentMissing(checkpoint);
    rules.refuseTooMuch(content, next, options.files, storage);

    // Nothing can fail from here on, so that all of it takes place or nothing.
    const files = chains.get(issue) ?? new Map<string, Buffer>();
    for (const { path, content } of options.files ?? []) {
      if (content === null) files.delete(path);
      else files.set(path, Buffer.from(content));
    }
    for (const { checkpoint_id, compressed } of next.removed)
      files.delete(layout.checkpoint(checkpoint_id, compressed));
    for (const { number, text } of next.pages) files.set(layout.page(number), Buffer.from(text));
    const indexBytes = Buffer.from(next.index.text);
    parsed.set(indexBytes, next.index);
    files.set(layout.index, indexBytes);
    const bytes = Buffer.from(content);
    decoded.set(bytes, checkpoint);
    files.set(layout.checkpoint(id, storage.compress), bytes);
    files.set(layout.latest, Buffer.from(fileName(id, storage.compress)));
    chains.set(issue, files);
    return { status: "stored", commit: id };
  }

  return {
    put: async (checkpoint, options) => put(checkpoint, options),
    latest: async (issue) => latest(issue),
    load: async (issue, id) => load(issue, id),
    list: async (issue, options) =>
      listed(indexOf(issue), options, async (number) => {
        const page = read(issue, layout.page(number));
        return page && parsePage(page.toString("utf8"));
      }),
    async readFile(issue, path) {
      rules.refuseOutside(path);
      const content = read(issue, path);
      return content && Buffer.from(content);
    },
    issues: async () => [...chains.keys()].sort((a, b) => a - b),
  };
}
