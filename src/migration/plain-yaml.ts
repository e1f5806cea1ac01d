import { z } from "zod";
import { decodeCheckpoint } from "../checkpoint/codec.js";
import { CheckpointId, newCheckpointId } from "../checkpoint/id.js";
import { type CheckpointIndex, parseIndex } from "../checkpoint/index-file.js";
import { firstIssue, invalidCheckpoint } from "../checkpoint/refusal.js";
import { Checkpoint } from "../checkpoint/schema.js";
import { upgradeCheckpoint } from "../checkpoint/upgrade.js";
import { from1_0 } from "../checkpoint/versions/from-1-0.js";
import { parseYaml } from "../yaml/parse-yaml.js";
import type { Imported, ImportOptions, Layout, SourceFiles } from "./imported.js";
import { chainOf, type Saved } from "./plain-chain.js";
import { attempt, quoted } from "./refusal.js";

const file = /^(?:(?:.*\/)?checkpoints\/)?(CP-[^/]+)\.yaml$/;
const limits = { maxBytes: 16 * 1024 * 1024, maxDepth: 48 };
const Head = z.looseObject({ checkpoint_id: z.string().max(200), version: z.string() });
const hashLine = /\ncontent_sha256: [0-9a-f]{64}\n$/;

/** The plain layout: `checkpoints/CP-….yaml` with `index.yaml` and `latest`. Most of these files have no hash. */
export const s3Yaml: Layout = {
  name: "s3",
  marks: (path) => file.test(path),
  read: readPlain,
};

function readPlain(files: SourceFiles, options: ImportOptions): Imported {
  const problems: string[] = [];
  const paths = [...files.keys()].filter((path) => file.test(path));
  const folder = paths[0]?.slice(0, paths[0].lastIndexOf("/") + 1) ?? "";
  const index = readIndex(files, `${folder}index.yaml`, problems);
  const saved = paths.flatMap((path) => {
    const bytes = files.get(path);
    return (bytes && attempt(path, problems, () => readOne(path, bytes, index, options))) ?? [];
  });
  for (const { path, id } of saved) {
    if (id !== file.exec(path)?.[1])
      problems.push(`${quoted(path)} holds ${quoted(id)}, not what its name says`);
  }
  const latest = latestOf(files, folder, index, problems);
  return chainOf({ saved, index, latest, files, folder, options, problems });
}

function readOne(path: string, bytes: Buffer, index: CheckpointIndex | null, options: ImportOptions): Saved {
  if (hashLine.test(bytes.subarray(-100).toString("latin1"))) {
    const checkpoint = decodeCheckpoint(bytes);
    return { path, id: checkpoint.checkpoint_id, checkpoint };
  }
  // Without a hash there is nothing to prove the file by, but its form is checked all the same.
  const value = parseYaml(bytes, limits).value;
  const head = Head.safeParse(value);
  if (!head.success) throw invalidCheckpoint(firstIssue(head.error), head.error);
  const { checkpoint_id: id, version } = head.data;
  const known = { ...head.data, checkpoint_id: ourId(id, options) };
  const trigger = index?.checkpoints.find((entry) => entry.checkpoint_id === id)?.trigger;
  const parsed = Checkpoint.safeParse(version === "1.0" ? from1_0(known, trigger) : upgradeCheckpoint(known));
  if (!parsed.success) throw invalidCheckpoint(firstIssue(parsed.error), parsed.error);
  return { path, id, checkpoint: parsed.data };
}

/** The plain layout leaves the form of the timestamp in an id open: what is no id of ours gets a new one. */
function ourId(id: string, { maker }: ImportOptions): string {
  if (CheckpointId.safeParse(id).success) return id;
  const { now, randomHex } = maker;
  return newCheckpointId({ phase: "imported", sequence: 128, now: now(), randomHex, isTaken: () => false });
}

function readIndex(files: SourceFiles, path: string, problems: string[]): CheckpointIndex | null {
  const bytes = files.get(path);
  if (bytes) return attempt(path, problems, () => parseIndex(bytes.toString("utf8")));
  problems.push(`${quoted(path)} is missing: why each checkpoint was made is derived from its content`);
  return null;
}

function latestOf(files: SourceFiles, folder: string, index: CheckpointIndex | null, problems: string[]) {
  const text = files
    .get(`${folder}latest`)
    ?.toString("utf8")
    .slice(0, 300)
    .trim()
    .replace(/\.yaml$/, "");
  const latest = text?.slice(text.lastIndexOf("/") + 1) ?? index?.latest ?? null;
  if (index !== null && latest !== null && index.latest !== latest)
    problems.push(`\`latest\` names ${quoted(latest)}, and the index ${quoted(index.latest)}`);
  return latest;
}
