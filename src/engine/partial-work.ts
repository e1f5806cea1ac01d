import type { Checkpoint, PartialFile } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { FileChange, Workspace } from "../ports.js";
import { readArtifact, sha256 } from "./artifacts.js";
import { clean } from "./judgement.js";
import type { PhasePlan } from "./plan.js";
import { allowedChanges } from "./publish-policy.js";
import type { Session } from "./session.js";

export interface PartialWork {
  readonly partial_work: readonly PartialFile[];
  /** The files themselves, for the store. */
  readonly files: readonly FileChange[];
}

const nothing: PartialWork = { partial_work: [], files: [] };

/**
 * What an agent that did not finish has changed so far, as far as it was allowed to. It goes to the next attempt
 * only, never to a branch. Work that can't be read (too large, a link that leads outside) is left behind: saving the
 * rest of the checkpoint matters more.
 */
export async function capturePartialWork(
  session: Session,
  claim: Checkpoint,
  phase: PhasePlan,
  workspace: Workspace,
): Promise<PartialWork> {
  let changes: readonly FileChange[];
  try {
    changes = await workspace.changes();
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    session.log.warn(`the unfinished work was not saved: ${error.message}`);
    return nothing;
  }
  const rules = {
    layout: session.plan.layout,
    issue: claim.issue_number,
    writes: phase.writes,
    protectedPaths: session.plan.protectedPaths,
  };
  // A link says nothing by itself, and what it leads to is saved where it lies.
  const files = allowedChanges(changes, rules)
    .filter(({ mode }) => mode !== "120000")
    .map((file) => clean(file, session.redact));
  return { files, partial_work: files.map(partialFile) };
}

function partialFile({ path, mode, status, content }: FileChange): PartialFile {
  const hash = content === null ? null : sha256(content);
  return { path, mode, status, hash, size_bytes: content?.length ?? 0 };
}

/** Puts unfinished work back where it was, as changes of the agent that goes on with it. */
export async function restorePartialWork(
  session: Session,
  claim: Checkpoint,
  workspace: Workspace,
): Promise<void> {
  const changes: FileChange[] = [];
  for (const { path, mode, status, hash } of claim.partial_work) {
    const content =
      hash === null ? null : await readArtifact(session.store, claim.issue_number, { path, hash });
    changes.push({ path, mode, status, content });
  }
  if (changes.length > 0) await workspace.apply(changes);
}
