import { createMemoryStore, type MemoryChains } from "../../src/adapters/memory/checkpoint-store.js";
import { describeCheckpointStore } from "./checkpoint-store.js";

describeCheckpointStore("memory", async () => {
  const chains: MemoryChains = new Map();
  return {
    store: createMemoryStore(chains),
    reopen: () => createMemoryStore(chains),
    close: async () => {},
    read: async (issue, path) => chains.get(issue)?.get(path) ?? null,
    async corrupt(issue, path, bytes) {
      chains.set(issue, new Map(chains.get(issue)).set(path, bytes));
    },
  };
});
