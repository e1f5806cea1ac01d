import { createMemoryStore, type MemoryChains } from "../../src/adapters/memory/checkpoint-store.js";
import { createLayout } from "../../src/checkpoint/layout.js";
import { defaultStorage, type StorageOptions } from "../../src/checkpoint/storage-options.js";
import { describeCheckpointStore } from "./checkpoint-store.js";
import type { OpenStore } from "./open-store.js";

async function open(options: Partial<StorageOptions>): Promise<OpenStore> {
  const chains: MemoryChains = new Map();
  const storage = { ...defaultStorage, ...options };
  return {
    store: createMemoryStore(chains, storage),
    storage,
    reopen: (changes) => createMemoryStore(chains, { ...storage, ...changes }),
    close: async () => {},
    read: async (issue, path) => chains.get(issue)?.get(path) ?? null,
    async corrupt(issue, path, bytes) {
      chains.get(issue)?.set(path, bytes);
    },
    longHistory: 2_000,
  };
}

describeCheckpointStore("memory", () => open({}));
describeCheckpointStore("memory, compressed and elsewhere,", () =>
  open({ compress: true, layout: createLayout("state/issue-{issue}/chain") }),
);
