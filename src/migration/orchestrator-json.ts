import { z } from "zod";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";
import { createDrafter } from "./draft.js";
import type { Imported, ImportOptions, Json, Layout, SourceFiles } from "./imported.js";
import { createArtifactReader } from "./orchestrator-artifacts.js";
import { draftOf } from "./orchestrator-checkpoint.js";
import { inOrder, type Source } from "./orchestrator-order.js";
import { OrchestratorCheckpoint } from "./orchestrator-schema.js";
import { readJson } from "./read-json.js";
import { attempt, quoted } from "./refusal.js";

const file = /^((?:.*\/)?)run-([^/]+)\/(PRE|POST)_([^/]+)_v(\d+)\.json$/;
/** Keys of `metadata` with a meaning for Crunch, which a file from outside must not give itself. */
const reserved = [
  "imported",
  "imported_from",
  "imported_index",
  "upgraded_from",
  "version_1_0",
  "rollback_to",
];

/** The orchestrator's layout: `.claude/checkpoints/run-<id>/{PRE,POST}_<phase>_v<n>.json`, with `artifacts/` and `index.json`. */
export const orchestratorJson: Layout = {
  name: "orchestrator",
  marks: (path) => file.test(path),
  read: readOrchestrator,
};

function readOrchestrator(files: SourceFiles, options: ImportOptions): Imported {
  const problems: string[] = [];
  const first = [...files.keys()].map((path) => file.exec(path)).find((match) => match !== null);
  const root = first?.[1] ?? "";
  const sources = inOrder(readSources(files, problems), problems);
  const artifacts = createArtifactReader(root, files, problems);
  const next = createDrafter(options, "unknown");
  const index = readIndex(files.get(`${root}index.json`), `${root}index.json`, sources, problems);

  const checkpoints: Checkpoint[] = [];
  const changes = new Map<string, readonly FileChange[]>();
  const newIds = new Map<string, string>();
  for (const [at, { path, checkpoint: source }] of sources.entries()) {
    const { metadata: rest, ...draft } = draftOf(source);
    const found = artifacts.of(path, source);
    const parent = source.parent_checkpoint_id;
    const mapped = parent === null ? null : (newIds.get(parent) ?? null);
    const own = Object.entries(source.metadata);
    const spoofed = Object.fromEntries(own.filter(([key]) => reserved.includes(key)));
    const imported = {
      ...rest,
      ...found.kept,
      ...(Object.keys(spoofed).length > 0 ? { metadata: spoofed } : {}),
    };
    const isRollback = draft.trigger === "rollback" && mapped !== null;
    const made = next({
      ...draft,
      ...(isRollback ? { parent_checkpoint_id: mapped } : {}),
      ...(draft.trigger === "rollback" && !isRollback ? { trigger: "phase_start" as const } : {}),
      artifacts: found.artifacts,
      metadata: {
        ...Object.fromEntries(own.filter(([key]) => !reserved.includes(key))),
        imported_from: {
          layout: "orchestrator",
          file: path,
          id: source.id,
          parent,
          parent_checkpoint: mapped,
        },
        ...(Object.keys(imported).length > 0 ? { imported } : {}),
        ...(at === sources.length - 1 && index !== null ? { imported_index: index } : {}),
      },
    });
    newIds.set(source.id, made.checkpoint_id);
    checkpoints.push(made);
    changes.set(made.checkpoint_id, found.files);
  }
  problems.push(...artifacts.unused().map((path) => `${quoted(path)} was left out: no checkpoint names it`));
  problems.push(
    ...strangers(files, root).map((path) => `${quoted(path)} was left out: it is no part of the layout`),
  );
  return { checkpoints, files: changes, problems };
}

function readSources(files: SourceFiles, problems: string[]): readonly Source[] {
  const byId = new Map<string, Source>();
  for (const [path, bytes] of files) {
    const match = file.exec(path);
    const checkpoint = match && attempt(path, problems, () => readJson(OrchestratorCheckpoint, bytes));
    if (!match || !checkpoint) continue;
    const [, , run, type, phase, version] = match;
    const { id, orchestrator_state: state } = checkpoint;
    const said = [state.run_id, checkpoint.type, checkpoint.phase, String(checkpoint.version)];
    if (said.join("\n") !== [run, type, phase, version].join("\n"))
      problems.push(`${quoted(path)} holds ${quoted(said.join(" "))}, which is not what its name says`);
    const other = byId.get(id);
    if (other) problems.push(`${quoted(path)} was left out: ${quoted(other.path)} has the same id`);
    else byId.set(id, { path, checkpoint });
  }
  return [...byId.values()];
}

/** The orchestrator leaves the index's form open. It is kept whole, and asked for the ids that it knows. */
function readIndex(bytes: Buffer | undefined, path: string, sources: readonly Source[], problems: string[]) {
  const index = bytes && attempt(path, problems, () => readJson(z.json(), bytes));
  if (index === undefined || index === null) return null;
  const known = new Set(sources.map(({ checkpoint }) => checkpoint.id));
  const listed = new Set(idsIn(index));
  for (const id of listed)
    if (!known.has(id)) problems.push(`${quoted(path)} lists ${quoted(id)}, which is not there`);
  return index;
}

function idsIn(value: Json): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === "id" || key === "checkpoint_id") && typeof inner === "string" ? [inner] : idsIn(inner),
  );
}

function strangers(files: SourceFiles, root: string): readonly string[] {
  return [...files.keys()].filter(
    (path) =>
      path.startsWith(root) &&
      !file.test(path) &&
      !path.startsWith(`${root}artifacts/`) &&
      path !== `${root}index.json`,
  );
}
