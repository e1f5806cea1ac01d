import type { Findings } from "../../checkpoint/moments/moment.js";
import { refuseReserved } from "../../checkpoint/rollback.js";
import type { Artifact } from "../../checkpoint/schema.js";
import { artifactOf, artifactPath, asArtifacts, sha256 } from "../../engine/artifacts.js";
import { partialFile } from "../../engine/partial-work.js";
import type { CheckpointStore, FileChange } from "../../ports.js";
import type { ServiceContext } from "./context.js";

/** Files that come with a checkpoint. */
export interface Extra {
  /** Results of the run: in the issue's folder under their path, and by their content for every checkpoint. */
  readonly artifacts?: readonly { readonly path: string; readonly content: Buffer }[];
  /** What each agent has written for the next one: Markdown by agent. */
  readonly notes?: Readonly<Record<string, string>>;
  /** Files of the repo as an agent that is not done has left them, to be given to the next attempt. */
  readonly unfinished?: readonly FileChange[];
  /** Other files of the issue's folder. Checkpoints do not know of them, and a rollback leaves them alone. */
  readonly files?: readonly FileChange[];
  /** A commit of the code that the checkpoint's own commit keeps reachable, where the store has commits. */
  readonly codeCommit?: string;
}

/** A moment that tells of the files, and what the store has to write for them. */
export async function withFiles<M extends Findings>(
  { store, layout }: Pick<ServiceContext, "store" | "layout">,
  issue: number,
  moment: M,
  extra: Extra,
): Promise<{ readonly moment: M; readonly files: readonly FileChange[] }> {
  const artifacts = (extra.artifacts ?? []).map(({ path, content }) => written(path, content));
  for (const { path } of artifacts) refuseReserved(path, layout);
  const notes = Object.entries(extra.notes ?? {}).map(
    ([agent, text]) => [agent, written(`notes/${agent}.md`, Buffer.from(text))] as const,
  );
  const live = [...artifacts, ...notes.map(([, file]) => file)];
  const unfinished = extra.unfinished ?? [];
  const contents = await notStored(store, issue, asArtifacts([...live, ...unfinished]));
  const findings: Findings = {
    ...(artifacts.length > 0 && { artifacts: { ...moment.artifacts, ...named(artifacts) } }),
    ...(notes.length > 0 && {
      notes: { ...moment.notes, ...Object.fromEntries(notes.map(([agent, file]) => [agent, asNamed(file)])) },
    }),
    ...(extra.unfinished && { partialWork: unfinished.map(partialFile) }),
  };
  return { moment: { ...moment, ...findings }, files: [...(extra.files ?? []), ...live, ...contents] };
}

type Written = FileChange & { readonly content: Buffer };

function written(path: string, content: Buffer): Written {
  return { path, mode: "100644", content, status: "modified" };
}

const asNamed = ({ path, content }: Written): Artifact => artifactOf(path, content);

function named(files: readonly Written[]): Record<string, Artifact> {
  return Object.fromEntries(files.map((file) => [file.path, asNamed(file)]));
}

/** Contents are never taken away, so what is there once need not be written again. Broken ones are replaced. */
async function notStored(store: CheckpointStore, issue: number, files: readonly FileChange[]) {
  const missing: FileChange[] = [];
  for (const file of files) {
    const stored = await store.readFile(issue, file.path);
    if (stored === null || artifactPath(sha256(stored)) !== file.path) missing.push(file);
  }
  return missing;
}
