import { isUncertain, orNull, statusOf } from "./client.js";
import { named, type Repository } from "./repository.js";

const tries = 3;

export interface Move {
  /** Null: the branch is to be created. */
  readonly from: string | null;
  readonly to: string;
}

export type Moved =
  | { readonly status: "moved" }
  /** The branch is elsewhere, at `tip`; or GitHub refuses to move it from where it was thought to be. */
  | { readonly status: "refused"; readonly tip: string | null };

/**
 * Moves a branch from one commit to the next, or creates it; never by force. After a lost answer or a refusal the
 * branch itself tells what happened, after every try anew: the one before may have taken place late.
 */
export async function moveRef(repository: Repository, branch: string, move: Move): Promise<Moved> {
  for (let attempt = 1; ; attempt++) {
    try {
      await send(repository, branch, move);
      return { status: "moved" };
    } catch (error) {
      const isRefusal = [404, 409, 422].includes(statusOf(error) ?? 0);
      if (!isUncertain(error) && !isRefusal) throw error;
      const tip = await readRef(repository, branch);
      if (tip !== null && (await holds(repository, tip, move.to))) return { status: "moved" };
      if (tip !== move.from) return { status: "refused", tip };
      // The branch has not moved. A name or commit that GitHub does not take is no race.
      if (isRefusal && move.from !== null) return { status: "refused", tip };
      if (isRefusal || attempt === tries) throw error;
    }
  }
}

async function send(repository: Repository, branch: string, { from, to }: Move): Promise<void> {
  const { git } = repository.octokit;
  const ref = `heads/${branch}`;
  if (from === null) await git.createRef({ ...named(repository), ref: `refs/${ref}`, sha: to });
  else await git.updateRef({ ...named(repository), ref, sha: to, force: false });
}

async function readRef(repository: Repository, branch: string): Promise<string | null> {
  const found = await orNull(repository.octokit.git.getRef({ ...named(repository), ref: `heads/${branch}` }));
  return found?.data.object.sha ?? null;
}

/** Whether the commit is the tip or an ancestor of it: others may have built on it by now. */
async function holds(repository: Repository, tip: string, commit: string): Promise<boolean> {
  if (tip === commit) return true;
  const basehead = `${commit}...${tip}`;
  const found = await orNull(
    repository.octokit.repos.compareCommitsWithBasehead({ ...named(repository), basehead }),
  );
  return found?.data.status === "ahead" || found?.data.status === "identical";
}
