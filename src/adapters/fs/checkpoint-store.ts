import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { idTaken } from "../../checkpoint/extend-index.js";
import { parsePage } from "../../checkpoint/index-file.js";
import { fileName } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { defaultStorage, type StorageOptions } from "../../checkpoint/storage-options.js";
import type { CheckpointStore, PutOptions, PutResult } from "../../ports.js";
import * as rules from "../chain-rules.js";
import { createTurns } from "../in-turn.js";
import { listed } from "../list-chain.js";
import { createChainReader, latestId, latestName, readCurrent } from "./chain-reader.js";
import { ifThere, readPlain, removeFile } from "./disk.js";
import { type ChainFolders, findFolders, makeFolders } from "./folders.js";
import { acquireLock, type Lock } from "./lock.js";
import { discard, finish, pendingChanges, pendingIndex, stagedIds } from "./staged-changes.js";
import { storeStaged } from "./staging.js";

export interface FileStoreOptions {
  readonly storage?: Partial<StorageOptions>;
  /** "none" leaves it to the system when to write to the disk: a crash of the machine may cost the newest puts. */
  readonly durability?: "fsync" | "none";
  readonly lockTimeoutMs?: number;
  readonly onStep?: (step: string) => void;
}

/** Within a process the writers of a chain wait in line; only those of other processes poll the lock. */
const inTurn = createTurns();

/** Chains as plain files in a folder, the same files as on GitHub. `latest` is the commit point: see staging.ts. */
export function createFileStore(root: string, options: FileStoreOptions = {}): CheckpointStore {
  const storage = { ...defaultStorage, ...options.storage };
  const { layout } = storage;
  const staging = { isDurable: options.durability !== "none", onStep: options.onStep };
  const reader = createChainReader();
  /** Chains that this process has cleaned up once; after that it leaves nothing behind itself. */
  const cleaned = new Set<string>();
  const timeoutMs = options.lockTimeoutMs ?? 10_000;
  const find = (issue: number) => findFolders(root, layout, issue);

  function readCheckpoint({ chain }: ChainFolders, id: string): Buffer | null {
    return readPlain(join(chain, fileName(id))) ?? readPlain(join(chain, fileName(id, true)));
  }

  /** Ends what a dead writer has begun: done if its checkpoint is the latest, undone if not. */
  async function cleanUp(folders: ChainFolders): Promise<void> {
    for (const id of stagedIds(folders)) {
      if (id === latestId(folders)) await finish(folders, id, pendingChanges(folders, id), staging);
      // An index that never got to its place is that of a checkpoint that was never the latest.
      else if (pendingIndex(folders, id) !== null)
        for (const gz of [false, true]) removeFile(join(folders.chain, fileName(id, gz)));
      discard(folders, id);
    }
    cleaned.add(folders.chain);
  }

  async function putLocked(
    folders: ChainFolders,
    checkpoint: Checkpoint,
    content: Buffer | string,
    options: PutOptions,
    lock: Lock,
  ): Promise<PutResult> {
    const { issue_number: issue, checkpoint_id: id } = checkpoint;
    const end = rules.endFor(
      checkpoint,
      () => reader.latest(folders, issue),
      () => latestId(folders),
    );
    if (lock.isInherited || !cleaned.has(folders.chain) || reader.isBehind(folders)) await cleanUp(folders);
    if (end.id !== options.expectedLatest) return { status: "conflict", latest: end.latest };
    const index = reader.index(folders, issue);
    const next = rules.extendChain(index, checkpoint, options, storage);
    const parent = rules.parentToFind(index, checkpoint);
    if (parent !== null && readCheckpoint(folders, parent) === null) throw rules.parentMissing(checkpoint);
    const name = fileName(id, storage.compress);
    if (readCheckpoint(folders, id) !== null) throw idTaken(id);
    rules.refuseTooMuch(content, next, options.files, storage);
    const plain = { mode: "100644" } as const;
    const gone = next.removed.map((entry) => layout.checkpoint(entry.checkpoint_id, entry.compressed));
    const files = [
      ...(options.files ?? []),
      ...next.pages.map(({ number, text }) => ({
        ...plain,
        path: layout.page(number),
        content: Buffer.from(text),
      })),
      ...gone.map((path) => ({ ...plain, path, content: null })),
    ];
    // Until it is through, there may be something to clean up.
    cleaned.delete(folders.chain);
    await storeStaged(
      folders,
      { id, name, content, index: next.index.text, files },
      { ...staging, beforeCommit: lock.check },
    );
    cleaned.add(folders.chain);
    reader.wrote(folders, name, checkpoint, next.index);
    return { status: "stored", commit: id };
  }

  async function put(checkpoint: Checkpoint, options: PutOptions): Promise<PutResult> {
    const content = rules.encodeForChain(checkpoint, options, storage);
    const issue = checkpoint.issue_number;
    if (options.expectedLatest !== null && find(issue) === null) return { status: "conflict", latest: null };
    return inTurn(`${resolve(root)} ${issue}`, async () => {
      const folders = makeFolders(root, layout, issue);
      const lock = await acquireLock(join(folders.staging, "lock"), timeoutMs);
      staging.onStep?.("locked");
      try {
        return await putLocked(folders, checkpoint, content, options, lock);
      } finally {
        lock.release();
      }
    });
  }

  return {
    put,
    async latest(issue) {
      const folders = find(issue);
      return folders && reader.latest(folders, issue);
    },
    async load(issue, id) {
      fileName(id);
      const folders = find(issue);
      // What is staged for another than the latest has never become part of the chain.
      const isStored = folders && (pendingIndex(folders, id) === null || latestId(folders) === id);
      const bytes = isStored ? readCheckpoint(folders, id) : null;
      return bytes && rules.decodeOfChain(bytes, issue, id);
    },
    async list(issue, options) {
      const folders = find(issue);
      if (folders === null) return [];
      return listed(reader.index(folders, issue), options, async (number) => {
        const page = readCurrent(folders, layout.page(number));
        return page && parsePage(page.toString("utf8"));
      });
    },
    async readFile(issue, path) {
      rules.refuseOutside(path);
      const folders = find(issue);
      return folders && readCurrent(folders, path);
    },
    async issues() {
      const names = ifThere(() => readdirSync(join(root, layout.parent))) ?? [];
      const numbers = names.map((name) => layout.issueNamed(name)).filter((issue) => issue !== null);
      const hasChain = (folders: ChainFolders | null) => folders !== null && latestName(folders) !== null;
      return numbers.filter((issue) => hasChain(find(issue))).sort((a, b) => a - b);
    },
  };
}
