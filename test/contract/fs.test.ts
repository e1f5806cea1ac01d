import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../../src/adapters/fs/checkpoint-store.js";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import type { StorageOptions } from "../../src/checkpoint/storage-options.js";
import { describeCheckpointStore, type OpenStore } from "./checkpoint-store.js";

async function open(storage: Partial<StorageOptions>): Promise<OpenStore> {
  const root = mkdtempSync(join(tmpdir(), "crunch-store-"));
  const layout = storage.layout ?? defaultLayout;
  const pathOf = (issue: number, path: string) => join(root, layout.folder(issue), path);
  const store = () => createFileStore(root, { storage, durability: "none" });
  return {
    store: store(),
    reopen: store,
    close: async () => rmSync(root, { recursive: true, force: true }),
    async read(issue, path) {
      return readFileSync(pathOf(issue, path));
    },
    async corrupt(issue, path, bytes) {
      rmSync(pathOf(issue, path), { force: true });
      writeFileSync(pathOf(issue, path), bytes);
    },
    async mode(issue, path) {
      return (lstatSync(pathOf(issue, path)).mode & 0o100) === 0 ? "100644" : "100755";
    },
  };
}

describeCheckpointStore("file", () => open({}));
