import { newCheckpointId } from "../checkpoint/id.js";
import type { CheckpointIndex } from "../checkpoint/index-file.js";
import { recoveryInfo } from "../checkpoint/recovery.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";
import type { Imported, ImportOptions, SourceFiles } from "./imported.js";
import { added, artifactOf, isSafePath, storedArtifact } from "./outside.js";
import { quoted } from "./refusal.js";

export interface Saved {
  readonly path: string;
  /** As the file has it; the checkpoint has another where that is no id of ours. */
  readonly id: string;
  readonly checkpoint: Checkpoint;
}

interface Folder {
  readonly saved: readonly Saved[];
  readonly index: CheckpointIndex | null;
  readonly latest: string | null;
  readonly files: SourceFiles;
  /** Where the checkpoints are, with a slash at its end. */
  readonly folder: string;
  readonly options: ImportOptions;
  readonly problems: string[];
}

/** Single checkpoints as a chain: the plain layout's have no parents, their order is that of time. */
export function chainOf(source: Folder): Imported {
  const { options, problems, folder } = source;
  const checkpoints: Checkpoint[] = [];
  const files = new Map<string, readonly FileChange[]>();
  const taken = new Set<string>();
  const successes = new Map<string, number>();
  for (const { path, id, checkpoint } of inOrder(source)) {
    const last = checkpoints.at(-1);
    const checkpoint_id = uniqueId(checkpoint, taken, options, path, problems);
    const outputs = outputsOf(checkpoint, source);
    const phase = checkpoint.workflow_state.current_phase;
    const version = (successes.get(phase) ?? 0) + 1;
    if (checkpoint.trigger === "phase_transition") successes.set(phase, version);
    if (checkpoint.issue_number !== options.issue)
      problems.push(
        `${quoted(path)} is of issue ${checkpoint.issue_number}, and now of issue ${options.issue}`,
      );
    const made: Checkpoint = {
      ...checkpoint,
      ...{
        checkpoint_id,
        sequence: checkpoints.length + 1,
        parent_checkpoint_id: last?.checkpoint_id ?? null,
      },
      ...{
        issue_number: options.issue,
        lease: null,
        phase_version: Math.max(version, checkpoint.phase_version),
      },
      issue_snapshot: withBase(checkpoint, options),
      artifacts: { ...last?.artifacts, ...checkpoint.artifacts, ...outputs.artifacts },
      metadata: {
        ...checkpoint.metadata,
        imported_from: { layout: "s3", file: path, id, issue: checkpoint.issue_number },
      },
    };
    checkpoints.push({ ...made, recovery_info: recoveryInfo(made) });
    files.set(checkpoint_id, outputs.files);
  }
  reportMissing(source, folder);
  return { checkpoints, files, problems };
}

/** `latest` is where people go on from, so it ends the chain even where another one is newer. */
function inOrder({ saved, latest, problems }: Folder): readonly Saved[] {
  const time = ({ checkpoint }: Saved) => Date.parse(checkpoint.created_at);
  const sorted = [...saved].sort((a, b) => time(a) - time(b) || (a.path < b.path ? -1 : 1));
  const end = sorted.find(({ id }) => id === latest);
  if (latest !== null && !end) problems.push(`the latest checkpoint ${quoted(latest)} is not there`);
  if (!end || end === sorted.at(-1)) return sorted;
  problems.push(`${quoted(end.path)} is the latest, although others are newer: the chain ends with it`);
  return [...sorted.filter((one) => one !== end), end];
}

function uniqueId(
  { checkpoint_id: id, workflow_state, created_at }: Checkpoint,
  taken: Set<string>,
  { maker }: ImportOptions,
  path: string,
  problems: string[],
): string {
  const isTaken = (one: string) => taken.has(one);
  const now = new Date(created_at);
  const phase = /^[a-z][a-z0-9_]*$/.test(workflow_state.current_phase)
    ? workflow_state.current_phase
    : "imported";
  const made = isTaken(id)
    ? newCheckpointId({ phase, sequence: taken.size, now, randomHex: maker.randomHex, isTaken })
    : id;
  if (made !== id) problems.push(`${quoted(path)} has an id that another file has too, and became ${made}`);
  taken.add(made);
  return made;
}

/** What agents wrote into the issue's folder, where the plain layout's `output_location` points and the file is there. */
function outputsOf({ agent_outputs }: Checkpoint, { files, folder }: Folder) {
  const home = folder.replace(/checkpoints\/$/, "");
  const artifacts: Checkpoint["artifacts"] = {};
  const changes: FileChange[] = [];
  for (const { output_location } of Object.values(agent_outputs).flatMap((tasks) => Object.values(tasks))) {
    const path = output_location?.replace(/^\.claude\/crunch\/\d+\//, "") ?? "";
    const content = files.get(`${home}${path}`);
    const isOwn = /^(?:checkpoints|artifacts|notes)(?:\/|$)/.test(path);
    if (!content || !isSafePath(path) || isOwn || Object.hasOwn(artifacts, path)) continue;
    artifacts[path] = artifactOf(path, content);
    changes.push(added(path, content), storedArtifact(content));
  }
  return { artifacts, files: changes };
}

function withBase({ issue_snapshot }: Checkpoint, { snapshot }: ImportOptions): Checkpoint["issue_snapshot"] {
  if (!snapshot || issue_snapshot.head_sha !== null) return issue_snapshot;
  const { base_branch, base_sha, head_sha } = snapshot;
  return { ...issue_snapshot, base_branch, base_sha, head_sha };
}

function reportMissing({ saved, index, files, problems }: Folder, folder: string): void {
  const known = new Set(saved.map(({ id }) => id));
  const listed = new Set(index?.checkpoints.map(({ checkpoint_id }) => checkpoint_id));
  for (const id of listed) {
    if (!known.has(id)) problems.push(`the index lists ${quoted(id)}, which is not there`);
  }
  for (const { id, path } of index === null ? [] : saved) {
    if (!listed.has(id)) problems.push(`${quoted(path)} is not in the index: why it was made is derived`);
  }
  const used = new Set([...saved.map(({ path }) => path), `${folder}index.yaml`, `${folder}latest`]);
  for (const path of files.keys()) {
    const isForeign = path.startsWith(folder) && !used.has(path) && !/(?:^|\/)CP-[^/]+\.yaml$/.test(path);
    if (isForeign) problems.push(`${quoted(path)} was left out: it is no part of the layout`);
  }
}
