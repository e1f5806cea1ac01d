import { z } from "zod";
import { CrunchError, messageOf } from "../errors.js";
import { emitText } from "../yaml/emit-yaml.js";
import { parseYaml } from "../yaml/parse-yaml.js";
import { CheckpointId } from "./id.js";
import { type Checkpoint, Trigger } from "./schema.js";

/** One line of a chain's index (S3), enough to list the chain without reading every checkpoint. */
export const IndexEntry = z.strictObject({
  checkpoint_id: CheckpointId,
  created_at: z.iso.datetime(),
  trigger: Trigger,
  phase: z.string(),
  can_resume: z.boolean(),
});
export type IndexEntry = z.infer<typeof IndexEntry>;

export const CheckpointIndex = z.strictObject({
  issue_number: z.number().int().positive(),
  latest: CheckpointId,
  total_checkpoints: z.number().int().nonnegative(),
  checkpoints: z.array(IndexEntry),
});
export type CheckpointIndex = z.infer<typeof CheckpointIndex>;

export function indexEntryOf(checkpoint: Checkpoint): IndexEntry {
  return {
    checkpoint_id: checkpoint.checkpoint_id,
    created_at: checkpoint.created_at,
    trigger: checkpoint.trigger,
    phase: checkpoint.workflow_state.current_phase,
    can_resume: checkpoint.recovery_info.can_resume,
  };
}

const maxIndexBytes = 20 * 1024 * 1024;

const header =
  /^issue_number: (\d{1,15})\nlatest: (CP-[a-z0-9_-]+)\ntotal_checkpoints: (\d{1,15})\ncheckpoints:\n/;
const entry =
  /^ {2}- checkpoint_id: (CP-[a-z0-9_-]+)\n {4}created_at: "([0-9TZ:.+-]+)"\n {4}trigger: ([a-z_]+)\n {4}phase: (.+)\n {4}can_resume: (true|false)\n/;
const wholeEntry = new RegExp(`${entry.source}$`);
const nextEntry = new RegExp(entry.source.slice(1), "y");

/**
 * The index with one more entry. Works on the text, because parsing and writing an index of 10,000 entries
 * takes most of a second; a text in another form (written by hand, by another tool) is parsed and rewritten.
 */
export function appendToIndex(text: string | null, checkpoint: Checkpoint): string {
  const added = indexEntryOf(checkpoint);
  const issue = checkpoint.issue_number;
  if (text === null) return emitHeader(issue, added.checkpoint_id, 1) + emitEntry(added);

  const own = ownHeader(text) ?? ownHeader(rewrite(parseIndex(text)));
  if (own === null) throw invalid("its latest checkpoint is not among its entries");
  if (own.issue !== issue) throw invalid(`it belongs to issue ${own.issue}, not to issue ${issue}`);
  if (indexHas(own.text, added.checkpoint_id)) {
    throw new CrunchError({
      code: "checkpoint_id_taken",
      message: `The index already has the checkpoint ${added.checkpoint_id}.`,
      hint: "Create the checkpoint again: it gets a new id.",
    });
  }
  return (
    emitHeader(issue, added.checkpoint_id, own.total + 1) + own.text.slice(own.length) + emitEntry(added)
  );
}

export function parseIndex(text: string): CheckpointIndex {
  const own = readOwnForm(text);
  const parsed = CheckpointIndex.safeParse(own ?? readYaml(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(`${issue?.path.map(String).join(".")}: ${issue?.message}`, parsed.error);
}

/** Whether an id is taken, without parsing: wherever the id stands in the text, it counts. */
export function indexHas(text: string | null, id: string): boolean {
  if (text === null) return false;
  for (let at = text.indexOf(id); at !== -1; at = text.indexOf(id, at + 1)) {
    if (!/[a-z0-9_-]/i.test(text.charAt(at + id.length))) return true;
  }
  return false;
}

/** The header, if the text is in our own form as far as its two ends tell. */
function ownHeader(text: string) {
  const match = header.exec(text);
  if (match === null) return null;
  const [whole, issue, latest, total] = match;
  const lastStart = text.lastIndexOf("\n  - ") + 1;
  const last = wholeEntry.exec(text.slice(Math.max(lastStart, 1)));
  if (last === null || last[1] !== latest) return null;
  return { text, issue: Number(issue), total: Number(total), length: whole.length };
}

function readOwnForm(text: string): unknown {
  const match = header.exec(text);
  if (match === null) return null;
  const checkpoints: unknown[] = [];
  nextEntry.lastIndex = match[0].length;
  while (nextEntry.lastIndex < text.length) {
    const found = nextEntry.exec(text);
    if (found === null) return null;
    const phase = readText(found[4] ?? "");
    if (phase === null) return null;
    checkpoints.push({
      checkpoint_id: found[1],
      created_at: found[2],
      trigger: found[3],
      phase,
      can_resume: found[5] === "true",
    });
  }
  return {
    issue_number: Number(match[1]),
    latest: match[2],
    total_checkpoints: Number(match[3]),
    checkpoints,
  };
}

/** A text as emitText() writes it, or null for any other form. */
function readText(source: string): string | null {
  if (!source.startsWith('"')) return emitText(source) === source ? source : null;
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

function readYaml(text: string): unknown {
  try {
    return parseYaml(text, { maxBytes: maxIndexBytes, maxDepth: 8 }).value;
  } catch (cause) {
    throw invalid(messageOf(cause), cause);
  }
}

function rewrite(index: CheckpointIndex): string {
  const { issue_number, latest, checkpoints } = index;
  // Entries may stand in another order; the chain's end must be the last one for the next append.
  const ordered = [
    ...checkpoints.filter((one) => one.checkpoint_id !== latest),
    ...checkpoints.filter((one) => one.checkpoint_id === latest),
  ];
  return emitHeader(issue_number, latest, ordered.length) + ordered.map(emitEntry).join("");
}

function emitHeader(issue: number, latest: string, total: number): string {
  return `issue_number: ${issue}\nlatest: ${latest}\ntotal_checkpoints: ${total}\ncheckpoints:\n`;
}

function emitEntry(one: IndexEntry): string {
  return [
    `  - checkpoint_id: ${one.checkpoint_id}`,
    `    created_at: "${one.created_at}"`,
    `    trigger: ${one.trigger}`,
    `    phase: ${emitText(one.phase)}`,
    `    can_resume: ${one.can_resume}`,
    "",
  ].join("\n");
}

function invalid(reason: string, cause?: unknown): CrunchError {
  return new CrunchError({
    code: "index_invalid",
    message: `The checkpoint index is not valid: ${reason}.`,
    hint: "Restore `checkpoints/index.yaml` from the previous commit of the storage branch.",
    cause,
  });
}
