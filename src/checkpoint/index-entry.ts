import { z } from "zod";
import { emitText } from "../yaml/emit-yaml.js";
import { CheckpointId } from "./id.js";
import { type Checkpoint, Trigger } from "./schema.js";

/** One entry of a chain's index, enough to list the chain without reading every checkpoint. */
export const IndexEntry = z.strictObject({
  checkpoint_id: CheckpointId,
  sequence: z.number().int().positive(),
  created_at: z.iso.datetime(),
  trigger: Trigger,
  phase: z.string(),
  can_resume: z.boolean(),
  parent_checkpoint_id: CheckpointId.nullable(),
  /** The file is `CP-….yaml.gz`. */
  compressed: z.literal(true).optional(),
  /** Retention took the file away with the checkpoint that was made at this time. */
  removed_at: z.iso.datetime().optional(),
});
export type IndexEntry = z.infer<typeof IndexEntry>;

/** As a file may have it: the first indexes knew neither places nor parents, because no chain had branches yet. */
export const StoredEntry = IndexEntry.partial({ sequence: true, parent_checkpoint_id: true });
type StoredEntry = z.infer<typeof StoredEntry>;

export function indexEntryOf(checkpoint: Checkpoint): IndexEntry {
  return {
    checkpoint_id: checkpoint.checkpoint_id,
    sequence: checkpoint.sequence,
    created_at: checkpoint.created_at,
    trigger: checkpoint.trigger,
    phase: checkpoint.workflow_state.current_phase,
    can_resume: checkpoint.recovery_info.can_resume,
    parent_checkpoint_id: checkpoint.parent_checkpoint_id,
  };
}

/** Entries with the place and the parent that follow from their order, where they don't say. */
export function completed(entries: readonly StoredEntry[]): IndexEntry[] {
  return entries.map((entry, at) => ({
    ...entry,
    sequence: entry.sequence ?? at + 1,
    parent_checkpoint_id:
      entry.parent_checkpoint_id === undefined
        ? (entries[at - 1]?.checkpoint_id ?? null)
        : entry.parent_checkpoint_id,
  }));
}

export function emitEntry(one: IndexEntry): string {
  const optional = [
    ...(one.compressed ? ["    compressed: true\n"] : []),
    ...(one.removed_at === undefined ? [] : [`    removed_at: "${one.removed_at}"\n`]),
  ];
  return `  - checkpoint_id: ${one.checkpoint_id}
    sequence: ${one.sequence}
    created_at: "${one.created_at}"
    trigger: ${one.trigger}
    phase: ${emitText(one.phase)}
    can_resume: ${one.can_resume}
    parent_checkpoint_id: ${one.parent_checkpoint_id}
${optional.join("")}`;
}

const id = "CP-[a-z0-9_-]+";
const time = "[0-9TZ:.+-]+";
const ownEntry = new RegExp(
  [
    ` {2}- checkpoint_id: (${id})\n`,
    "(?: {4}sequence: (\\d{1,15})\n)?",
    ` {4}created_at: "(${time})"\n`,
    " {4}trigger: ([a-z_]+)\n",
    " {4}phase: (.+)\n",
    " {4}can_resume: (true|false)\n",
    `(?: {4}parent_checkpoint_id: (null|${id})\n)?`,
    "(?: {4}compressed: (true)\n)?",
    `(?: {4}removed_at: "(${time})"\n)?`,
  ].join(""),
  "y",
);

const isTrigger = (name: string): name is Trigger => (Trigger.options as readonly string[]).includes(name);

/** All entries of a text from `start` to its end, if it is in the form that emitEntry() writes; else null. */
export function readOwnEntries(text: string, start: number): StoredEntry[] | null {
  const entries: StoredEntry[] = [];
  ownEntry.lastIndex = start;
  while (ownEntry.lastIndex < text.length) {
    const [, id = "", sequence, created_at = "", trigger = "", source = "", resumes, parent, gz, removed] =
      ownEntry.exec(text) ?? [];
    const phase = readText(source);
    if (id === "" || phase === null || !isTrigger(trigger)) return null;
    entries.push({
      ...{ checkpoint_id: id, created_at, trigger, phase, can_resume: resumes === "true" },
      ...(sequence === undefined ? {} : { sequence: Number(sequence) }),
      ...(parent === undefined ? {} : { parent_checkpoint_id: parent === "null" ? null : parent }),
      ...(gz === undefined ? {} : { compressed: true }),
      ...(removed === undefined ? {} : { removed_at: removed }),
    });
  }
  return entries;
}

/** A text as emitText() writes it, or null for any other form. */
function readText(source: string): string | null {
  if (!source.startsWith('"')) return source !== "" && emitText(source) === source ? source : null;
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
