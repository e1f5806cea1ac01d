import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { Layout } from "../../checkpoint/layout.js";
import { refusedPath } from "../chain-rules.js";
import { flushFolderNow, hasCode } from "./disk.js";

/** The folders of one chain, with symlinks resolved: none of them leads out of the root. */
export interface ChainFolders {
  readonly root: string;
  readonly issue: string;
  readonly chain: string;
  /** Where files are made before they get their name: on the same disk, so that a rename is enough. */
  readonly staging: string;
}

const stagingName = ".staging";

export function findFolders(root: string, layout: Layout, issue: number): ChainFolders | null {
  const base = realPath(root);
  const straight = base && join(base, layout.folder(issue), layout.chain);
  // Almost always there is no symlink on the way, which one look tells.
  if (base && straight && realPath(straight) === straight)
    return { root: base, issue: dirname(straight), chain: straight, staging: join(straight, stagingName) };
  const folder = base && realInside(base, join(base, layout.folder(issue)));
  const chain = base && folder && realInside(base, join(folder, layout.chain));
  return base && folder && chain
    ? { root: base, issue: folder, chain, staging: join(chain, stagingName) }
    : null;
}

export function makeFolders(root: string, layout: Layout, issue: number): ChainFolders {
  const found = findFolders(root, layout, issue);
  if (found && realPath(found.staging) === found.staging) return found;
  mkdirSync(root, { recursive: true });
  const base = realpathSync.native(root);
  const path = `${layout.folder(issue)}/${layout.chain}/${stagingName}`;
  const staging = makeInside(base, base, path);
  const chain = dirname(staging);
  return { root: base, issue: dirname(chain), chain, staging };
}

/** Makes folders one by one, because a symlink on the way may lead out of the root. */
export function makeInside(root: string, from: string, path: string): string {
  let folder = from;
  for (const segment of path.split("/")) {
    const parent = folder;
    folder = join(parent, segment);
    try {
      mkdirSync(folder);
      flushFolderNow(parent);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
      const real = realInside(root, folder);
      if (real === null) throw refusedPath(path, "leads to nowhere");
      folder = real;
    }
  }
  return folder;
}

/** The real path of what is there, or null; refused when it is not inside the root. */
export function realInside(root: string, path: string): string | null {
  const real = realPath(path);
  if (real !== null && real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw refusedPath(path, "leads out of the folder that Crunch works in");
  return real;
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}
