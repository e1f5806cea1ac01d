import { rm } from "node:fs/promises";
import type { Workspace, WorkspaceProvider } from "../../ports.js";
import { temporaryFolder } from "../process/temporary-folder.js";
import { toText } from "./file-index.js";
import { type Checkout, indexedFiles, readCheckout, seedIndex, switchTo } from "./in-place.js";
import { initRepository } from "./init-repository.js";
import { openWorkspace } from "./open-workspace.js";
import { createPrivateGit, type PrivateGit } from "./private-git.js";
import { extractTarball, type Tarball } from "./tarball.js";

export interface WorkspaceProviderOptions {
  readonly fetchTarball: (sha: string) => Promise<Tarball>;
  /** Puts right what the tarball left out or filled in; for tarballs that heed `.gitattributes`. */
  readonly verifyFiles?: (sha: string, directory: string) => Promise<void>;
  /** An existing checkout to work in, instead of a new folder. */
  readonly directory?: string;
  /** The commit that checkout is at. */
  readonly checkoutSha?: string | null;
  readonly tempRoot?: string;
}

export function createWorkspaceProvider(options: WorkspaceProviderOptions): WorkspaceProvider {
  const newFolder = (kind: string) => temporaryFolder(kind, options.tempRoot);
  return options.directory === undefined
    ? temporaryWorkspaces(options, newFolder)
    : inPlaceWorkspaces(options.directory, options, newFolder);
}

type NewFolder = (kind: string) => Promise<string>;

async function unpack(options: WorkspaceProviderOptions, sha: string, directory: string): Promise<void> {
  await extractTarball(await options.fetchTarball(sha), directory);
  await options.verifyFiles?.(sha, directory);
}

function temporaryWorkspaces(options: WorkspaceProviderOptions, newFolder: NewFolder): WorkspaceProvider {
  return {
    open: (sha, { outputFolder }) =>
      cleaningUpOnFailure(async (own) => {
        const directory = own(await newFolder("workspace"));
        const git = await createPrivateGit(own(await newFolder("git")));
        await unpack(options, sha, directory);
        await initRepository(directory, sha, git.directory);
        // Tracked although ignored is possible: all that the tarball has is tracked.
        await seedIndex(git, directory, await readCheckout(git, directory));
        const committed = await namesOf(git, directory);
        return openWorkspace(git, directory, { sha, committed, outputFolder }, async () => {
          await removeAll([directory, git.directory]);
        });
      }),
  };
}

function inPlaceWorkspaces(
  directory: string,
  options: WorkspaceProviderOptions,
  newFolder: NewFolder,
): WorkspaceProvider {
  let currentSha = options.checkoutSha ?? null;
  let checkout: Checkout | null = null;
  /** There is one such folder: who comes while it is used gets one of his own. */
  let isInUse = false;
  const others = temporaryWorkspaces(options, newFolder);

  async function open(sha: string, opening: Parameters<WorkspaceProvider["open"]>[1]): Promise<Workspace> {
    if (isInUse) return others.open(sha, opening);
    isInUse = true;
    try {
      return await openInPlace(sha, opening);
    } catch (error) {
      isInUse = false;
      throw error;
    }
  }

  const openInPlace: WorkspaceProvider["open"] = (sha, { outputFolder }) =>
    cleaningUpOnFailure(async (own) => {
      const git = await createPrivateGit(own(await newFolder("git")));
      const before = checkout ?? (await readCheckout(git, directory));
      await seedIndex(git, directory, before);
      const isThere = currentSha === sha;
      if (!isThere) {
        const unpacked = own(await newFolder("unpacked"));
        await unpack(options, sha, unpacked);
        // Until the workspace is closed nobody can tell what the folder holds.
        currentSha = null;
        await switchTo(git, directory, unpacked);
        await removeAll([unpacked]);
      }
      const committed = (isThere ? before.committed : null) ?? (await namesOf(git, directory));
      return openWorkspace(git, directory, { sha, committed, outputFolder }, async (last) => {
        // What a failed attempt left must not look like part of the commit when it is opened again.
        currentSha = (await last.isUnchanged().catch(() => false)) ? last.sha : null;
        const tracked = await indexedFiles(git, directory);
        checkout = { tracked, committed: last.committed, excludes: before.excludes };
        await removeAll([git.directory]);
        isInUse = false;
      });
    });

  return { open };
}

async function namesOf(git: PrivateGit, directory: string): Promise<ReadonlySet<string>> {
  return new Set((await indexedFiles(git, directory)).map(toText));
}

async function cleaningUpOnFailure<T>(work: (own: (folder: string) => string) => Promise<T>): Promise<T> {
  const folders: string[] = [];
  try {
    return await work((folder) => {
      folders.push(folder);
      return folder;
    });
  } catch (error) {
    await removeAll(folders);
    throw error;
  }
}

async function removeAll(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
