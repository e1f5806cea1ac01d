import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileChange, Workspace, WorkspaceProvider } from "../../ports.js";
import { temporaryFolder } from "../process/temporary-folder.js";
import { refreshIndex } from "./file-index.js";
import { type Checkout, indexedFiles, readCheckout, seedIndex, switchTo } from "./in-place.js";
import { initRepository } from "./init-repository.js";
import { createPrivateGit, type PrivateGit } from "./private-git.js";
import { readChanges } from "./read-changes.js";
import { extractTarball, type Tarball } from "./tarball.js";

export interface WorkspaceProviderOptions {
  readonly fetchTarball: (sha: string) => Promise<Tarball>;
  /** An existing checkout to work in, instead of a new folder. */
  readonly directory?: string;
  /** The commit that checkout is at. */
  readonly checkoutSha?: string | null;
  readonly tempRoot?: string;
}

export function createWorkspaceProvider(options: WorkspaceProviderOptions): WorkspaceProvider {
  const newFolder = (kind: string) => temporaryFolder(kind, options.tempRoot);
  return options.directory === undefined
    ? temporaryWorkspaces(options.fetchTarball, newFolder)
    : inPlaceWorkspaces(options.directory, options, newFolder);
}

type NewFolder = (kind: string) => Promise<string>;

function temporaryWorkspaces(fetchTarball: WorkspaceProviderOptions["fetchTarball"], newFolder: NewFolder) {
  return {
    open: (sha: string) =>
      cleaningUpOnFailure(async (own) => {
        const directory = own(await newFolder("workspace"));
        const git = await createPrivateGit(own(await newFolder("git")));
        await extractTarball(await fetchTarball(sha), directory);
        await initRepository(directory, sha, git.directory);
        // Tracked although ignored is possible: all that the tarball has is tracked.
        await seedIndex(git, directory, await readCheckout(git, directory));
        return openWorkspace(git, directory, sha, async () => {
          await removeAll([directory, git.directory]);
        });
      }),
  };
}

function inPlaceWorkspaces(directory: string, options: WorkspaceProviderOptions, newFolder: NewFolder) {
  let currentSha = options.checkoutSha ?? null;
  let checkout: Checkout | null = null;
  return {
    open: (sha: string) =>
      cleaningUpOnFailure(async (own) => {
        const git = await createPrivateGit(own(await newFolder("git")));
        const before = checkout ?? (await readCheckout(git, directory));
        await seedIndex(git, directory, before);
        if (currentSha !== sha) {
          const unpacked = own(await newFolder("unpacked"));
          await extractTarball(await options.fetchTarball(sha), unpacked);
          // Until the workspace is closed nobody can tell what the folder holds.
          currentSha = null;
          await switchTo(git, directory, unpacked);
          await removeAll([unpacked]);
        }
        return openWorkspace(git, directory, sha, async (baseSha, isUnchanged) => {
          // What a failed attempt left must not look like part of the commit when it is opened again.
          currentSha = (await isUnchanged().catch(() => false)) ? baseSha : null;
          checkout = { tracked: await indexedFiles(git, directory), excludes: before.excludes };
          await removeAll([git.directory]);
        });
      }),
  };
}

type OnClose = (baseSha: string, isUnchanged: () => Promise<boolean>) => Promise<void>;

async function openWorkspace(git: PrivateGit, directory: string, sha: string, onClose: OnClose) {
  const snapshot = async (refuseHuge = true) => {
    await refreshIndex(git, directory, { refuseHuge });
    return (await git.run(["write-tree"], { workTree: directory })).toString("latin1").trim();
  };
  let baseSha = sha;
  // What the repository has already is not for Crunch to refuse.
  let baseline = await snapshot(false);
  let isOpen = true;
  return {
    directory,
    get baseSha() {
      return baseSha;
    },
    async seed(files) {
      for (const file of files) {
        await mkdir(join(directory, dirname(file.path)), { recursive: true });
        await writeFile(join(directory, file.path), file.content);
      }
      baseline = await snapshot(false);
    },
    async apply(changes) {
      for (const change of changes) await applyChange(directory, change);
    },
    async changes() {
      await refreshIndex(git, directory, { refuseHuge: true });
      return readChanges(git, directory, baseline);
    },
    async settle(next) {
      baseline = await snapshot();
      baseSha = next;
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await onClose(baseSha, async () => (await snapshot()) === baseline);
    },
  } satisfies Workspace;
}

async function applyChange(directory: string, { path, mode, content }: FileChange): Promise<void> {
  const target = join(directory, path);
  if (content === null) return rm(target, { force: true });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
  await chmod(target, mode === "100755" ? 0o755 : 0o644);
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
