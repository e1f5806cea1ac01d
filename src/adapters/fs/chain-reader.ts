import { readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { extendIndex } from "../../checkpoint/extend-index.js";
import { isCheckpointId } from "../../checkpoint/id.js";
import { type CheckpointIndex, parseIndex } from "../../checkpoint/index-file.js";
import { fileName } from "../../checkpoint/layout.js";
import type { Checkpoint } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import { decodeOfChain, idInLatest, latestMissing } from "../chain-rules.js";
import { Recent } from "../recent.js";
import { hasCode, readPlain, stampOf } from "./disk.js";
import { type ChainFolders, realInside } from "./folders.js";
import { pendingChanges, pendingIndex } from "./staged-changes.js";

/** Reads chains, and remembers the end of each for as long as its files are the same. */
export function createChainReader() {
  const latests = new Recent<
    string,
    { readonly path: string; readonly stamp: string; readonly end: Checkpoint }
  >(100);
  const indexes = new Recent<string, { readonly stamp: string; readonly index: CheckpointIndex }>(100);

  function latest(folders: ChainFolders, issue: number): Checkpoint | null {
    const name = latestName(folders);
    if (name === null) return null;
    const id = idInLatest(name);
    const path = join(folders.chain, fileName(id, name.trim().endsWith(".gz")));
    const stamp = stampOf(path);
    const known = latests.get(folders.chain);
    if (known?.path === path && known.stamp === stamp) return known.end;
    const bytes = readPlain(path);
    if (bytes === null || stamp === null) throw latestMissing(id);
    const end = decodeOfChain(bytes, issue, id);
    latests.set(folders.chain, { path, stamp, end });
    return end;
  }

  /** The index that belongs to `latest`: in its place, still staged, or made good where the staged one got lost. */
  function index(folders: ChainFolders, issue: number): CheckpointIndex | null {
    const placed = placedIndex(folders);
    const id = latestId(folders);
    if (id === null || placed?.latest === id) return placed;
    const staged = pendingIndex(folders, id);
    if (staged) return parseIndex(staged.toString("utf8"));
    // It may have been moved to its place since.
    indexes.delete(folders.chain);
    const again = placedIndex(folders);
    return again && again.latest !== id ? withLost(again, () => latest(folders, issue)) : again;
  }

  function placedIndex({ chain }: ChainFolders): CheckpointIndex | null {
    const path = join(chain, "index.yaml");
    const stamp = stampOf(path);
    if (stamp === null) return null;
    const known = indexes.get(chain);
    if (known?.stamp === stamp) return known.index;
    const bytes = readPlain(path);
    if (bytes === null) return null;
    const index = parseIndex(bytes.toString("utf8"));
    indexes.set(chain, { stamp, index });
    return index;
  }

  return {
    latest,
    index,
    /** Whether the index in its place is not that of the latest checkpoint. */
    isBehind: (folders: ChainFolders) => (placedIndex(folders)?.latest ?? null) !== latestId(folders),
    /** What this process has just written need not be read back. */
    wrote(folders: ChainFolders, name: string, checkpoint: Checkpoint, index: CheckpointIndex): void {
      const path = join(folders.chain, name);
      const [own, stamp] = [stampOf(path), stampOf(join(folders.chain, "index.yaml"))];
      if (own !== null) latests.set(folders.chain, { path, stamp: own, end: checkpoint });
      if (stamp !== null) indexes.set(folders.chain, { stamp, index });
    },
  };
}

/** An index that lacks exactly the latest checkpoint gets its entry; any other is left for a person to look at. */
function withLost(index: CheckpointIndex, read: () => Checkpoint | null): CheckpointIndex {
  let end: Checkpoint | null = null;
  try {
    end = read();
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
  }
  const isNext = end?.trigger === "rollback" || end?.parent_checkpoint_id === index.latest;
  return end && isNext && end.sequence === index.total_checkpoints + 1
    ? extendIndex(index, end).index
    : index;
}

/** A file of the issue's folder as of the latest checkpoint, whose files may not all be in their place yet. */
export function readCurrent(folders: ChainFolders, path: string): Buffer | null {
  const id = latestId(folders);
  const changes = id === null ? [] : pendingChanges(folders, id);
  const change = changes.findLast((one) => one.path === path);
  if (change?.staged === null) return null;
  const staged = change && readInside(folders, join(folders.staging, change.staged));
  return staged ?? readInside(folders, join(folders.issue, path));
}

function readInside({ root }: ChainFolders, path: string): Buffer | null {
  const real = realInside(root, path);
  return real === null || statSync(real).isDirectory() ? null : readPlain(real);
}

/** The checkpoint that `latest` names, if it is a name of one. */
export function latestId(folders: ChainFolders): string | null {
  const name = latestName(folders);
  const id = name === null ? "" : idInLatest(name);
  return isCheckpointId(id) ? id : null;
}

/** The target of `latest`, or its content where it is a plain file. */
export function latestName({ chain }: ChainFolders): string | null {
  const path = join(chain, "latest");
  try {
    return readlinkSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    if (!hasCode(error, "EINVAL")) throw error;
    return readPlain(path)?.subarray(0, 300).toString("utf8") ?? null;
  }
}
