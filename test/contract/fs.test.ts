import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../../src/adapters/fs/checkpoint-store.js";
import { createLayout } from "../../src/checkpoint/layout.js";
import { defaultStorage, type StorageOptions } from "../../src/checkpoint/storage-options.js";
import { describeCheckpointStore } from "./checkpoint-store.js";
import type { OpenStore } from "./open-store.js";

async function open(options: Partial<StorageOptions>): Promise<OpenStore> {
  const root = mkdtempSync(join(tmpdir(), "crunch-store-"));
  const storage = { ...defaultStorage, ...options };
  const pathOf = (issue: number, path: string) => join(root, storage.layout.folder(issue), path);
  const reopen = (changes: Partial<StorageOptions> = {}) =>
    createFileStore(root, { storage: { ...storage, ...changes }, durability: "none" });
  return {
    store: reopen(),
    storage,
    reopen,
    longHistory: 2_000,
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
describeCheckpointStore("file, compressed and elsewhere,", () =>
  open({ compress: true, layout: createLayout("state/issue-{issue}/chain") }),
);
