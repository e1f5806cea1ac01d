import type { Checkpoint, PartialFile } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { FileChange, Workspace } from "../ports.js";
import { readArtifact, sha256 } from "./artifacts.js";
import type { Carried } from "./journal-parts.js";
import type { PhasePlan } from "./plan.js";
import { allowedChanges } from "./publish-policy.js";
import { fittingFiles } from "./put-budget.js";
import { holdsSecret } from "./secrets.js";
import type { Session } from "./session.js";

export interface PartialWork {
  readonly partial_work: readonly PartialFile[];
  /** The files themselves, for the store. */
  readonly files: readonly FileChange[];
  /** What is missing, for a person; null when that is all the agent has changed, so that nobody has to do it again. */
  readonly remark: string | null;
}

/**
 * What an agent that did not finish has changed so far, as far as it was allowed to. It goes to the next attempt
 * only, never to a branch. Work that can't be read (a link that leads outside) or is too large is left behind: saving
 * the rest of the checkpoint matters more.
 */
export async function capturePartialWork(
  session: Session,
  about: { readonly issue: number; readonly run: Carried },
  phase: PhasePlan,
  workspace: Workspace,
): Promise<PartialWork> {
  let changes: readonly FileChange[];
  try {
    changes = await workspace.changes();
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    const remark = `The unfinished work was not saved: ${error.message}`;
    session.log.warn(remark);
    return { partial_work: [], files: [], remark };
  }
  const allowed = allowedChanges(changes, rulesOf(session, about.issue, phase));
  const clean = allowed.filter(({ path, content }) => isClean(path, content, session.redact));
  const files = fittingFiles(clean, about, session.plan);
  const remark = remarkOf(changes.length - clean.length, clean.length - files.length);
  if (remark !== null) session.log.warn(remark);
  return { files, partial_work: files.map(partialFile), remark };
}

function remarkOf(refused: number, tooMuch: number): string | null {
  if (refused + tooMuch === 0) return null;
  const reasons = [
    ...(refused > 0 ? [`${refused} that the phase may not write or that hold a secret`] : []),
    ...(tooMuch > 0 ? [`${tooMuch} that one checkpoint has no room for`] : []),
  ];
  return `Files of the unfinished work were left out: ${reasons.join(", ")}.`;
}

/** A file with a secret is not kept: blacked out it would be another file, and the agent would go on with that. */
function isClean(path: string, content: Buffer | null, redact: (text: string) => string): boolean {
  return redact(path) === path && (content === null || !holdsSecret(content, redact));
}

function rulesOf(session: Session, issue: number, phase: PhasePlan) {
  const { layout, protectedPaths } = session.plan;
  return { layout, issue, writes: phase.writes, protectedPaths };
}

export function partialFile({ path, mode, status, content }: FileChange): PartialFile {
  const hash = content === null ? null : sha256(content);
  return { path, mode, status, hash, size_bytes: content?.length ?? 0 };
}

/**
 * Puts unfinished work back where it was, as changes of the agent that goes on with it. The checkpoint may be forged,
 * or from a time when the phase was allowed more: what it may not write now refuses all of it.
 */
export async function restorePartialWork(
  session: Session,
  about: { readonly issue: number; readonly name: string },
  work: Checkpoint["partial_work"],
  phase: PhasePlan,
  workspace: Workspace,
): Promise<void> {
  const changes: FileChange[] = [];
  for (const { path, mode, status, hash } of work) {
    const content = hash === null ? null : await readArtifact(session.store, about.issue, { path, hash });
    changes.push({ path, mode, status, content });
  }
  const allowed = new Set(allowedChanges(changes, rulesOf(session, about.issue, phase)));
  const refused = changes.filter((change) => !allowed.has(change)).map(({ path }) => path);
  if (refused.length > 0) throw notAllowed(about.name, refused);
  if (changes.length > 0) await workspace.apply(changes);
}

function notAllowed(phase: string, paths: readonly string[]): CrunchError {
  const listed = paths.slice(0, 10).map((path) => JSON.stringify(path.slice(0, 200)));
  return new CrunchError({
    code: "partial_work_refused",
    message: `The unfinished work of ${phase} was not restored: the phase may not write ${listed.join(", ")}.`,
    hint: "Allow the path with `writes` in .github/crunch.yml if it is right, or comment `/crunch rollback <id>` with a checkpoint before this work.",
  });
}
