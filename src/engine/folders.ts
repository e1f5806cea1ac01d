import { messageOf } from "../errors.js";
import type { Workspace } from "../ports.js";
import type { Journal } from "./journal.js";
import type { Session } from "./session.js";

/** The folders that agents work in. One that is done with is kept for the next, so that the repo is fetched once. */
export interface Folders {
  /** A folder with the code of the run as it is now, and with its outputs. */
  take(phase?: string): Promise<Workspace>;
  /** It holds just what was committed as `sha`. */
  giveBack(workspace: Workspace, sha: string): Promise<void>;
  drop(workspace: Workspace): Promise<void>;
  /** The folder that the commands around a phase run in. Its only task gets the same. */
  reserve(phase: string): Promise<{ readonly workspace: Workspace; readonly isNew: boolean }>;
  unreserve(phase: string): Promise<void>;
  closeAll(): Promise<void>;
}

export function createFolders(session: Session, journal: Journal, issue: number): Folders {
  let idle: Workspace | null = null;
  const taken = new Set<Workspace>();
  const outputFolder = session.plan.layout.folder(issue);

  const reserved = new Map<string, Workspace>();

  async function take(phase?: string): Promise<Workspace> {
    const own = phase === undefined ? undefined : reserved.get(phase);
    if (phase !== undefined && own) {
      reserved.delete(phase);
      return own;
    }
    const { issue_snapshot: snapshot } = journal.run;
    const sha = snapshot.head_sha ?? snapshot.base_sha;
    const kept = idle;
    idle = null;
    if (kept?.baseSha === sha) {
      taken.add(kept);
      return kept;
    }
    await kept?.close();
    const workspace = await session.workspaces.open(sha, { outputFolder });
    taken.add(workspace);
    const files = [];
    for (const artifact of Object.values(journal.run.artifacts)) {
      const content = await journal.read(artifact);
      files.push({ path: `${outputFolder}/${artifact.path}`, content });
    }
    if (files.length > 0) await workspace.seed(files);
    return workspace;
  }

  async function giveBack(workspace: Workspace, sha: string): Promise<void> {
    const isSoleOne = taken.size === 1 && idle === null;
    if (!isSoleOne) return drop(workspace);
    try {
      await workspace.settle(sha);
      taken.delete(workspace);
      idle = workspace;
    } catch (error) {
      // The work is committed: what its gates did to the folder must not undo that.
      session.log.warn(`the next phase gets a new folder: ${messageOf(error)}`);
      await drop(workspace);
    }
  }

  async function drop(workspace: Workspace): Promise<void> {
    taken.delete(workspace);
    await workspace.close();
  }

  return {
    take,
    giveBack,
    drop,
    async reserve(phase) {
      const known = reserved.get(phase);
      if (known) return { workspace: known, isNew: false };
      const kept = idle;
      const workspace = await take();
      reserved.set(phase, workspace);
      return { workspace, isNew: workspace !== kept };
    },
    async unreserve(phase) {
      const workspace = reserved.get(phase);
      reserved.delete(phase);
      if (workspace) await drop(workspace);
    },
    async closeAll() {
      for (const workspace of [...taken, ...(idle ? [idle] : [])]) await workspace.close();
      taken.clear();
      idle = null;
    },
  };
}
