import { z } from "zod";
import { CrunchError, messageOf } from "../errors.js";
import { parseYaml } from "../yaml/parse-yaml.js";
import { CheckpointId } from "./id.js";
import { completed, emitEntry, type IndexEntry, readOwnEntries, StoredEntry } from "./index-entry.js";

const Count = z.number().int().nonnegative();
const Issue = z.number().int().positive();

/** `index.yaml`: the newest entries, and those that retention may still take away. */
const IndexFile = z.strictObject({
  issue_number: Issue,
  latest: CheckpointId,
  /** All checkpoints that were ever stored, also those in pages and those taken away. */
  total_checkpoints: Count,
  pages: Count.default(0),
  checkpoints: z.array(StoredEntry),
});

/** `index-0001.yaml`: older entries, which never change any more. */
const PageFile = z.strictObject({ issue_number: Issue, page: Count, checkpoints: z.array(StoredEntry) });

export interface CheckpointIndex extends Omit<z.infer<typeof IndexFile>, "checkpoints"> {
  readonly checkpoints: readonly IndexEntry[];
  /** The file as Crunch writes it. */
  readonly text: string;
}

const maxIndexBytes = 20 * 1024 * 1024;
const header =
  /^issue_number: (\d{1,15})\nlatest: (CP-[a-z0-9_-]+)\ntotal_checkpoints: (\d{1,15})\n(?:pages: (\d{1,9})\n)?checkpoints:\n/;
const pageHeader = /^issue_number: (\d{1,15})\npage: (\d{1,9})\ncheckpoints:\n/;

/**
 * The index from its file. Our own form is read without a YAML parser, which would take longer than the rest of a
 * put; a text in another form (written by hand, by another tool) is parsed.
 */
export function parseIndex(text: string): CheckpointIndex {
  const own = readOwnIndex(text);
  const file = validated(IndexFile, own ?? readYaml(text));
  // Entries may stand in another order; the chain's end must be the last one for the next to follow.
  const stored = file.checkpoints;
  const entries = completed([
    ...stored.filter((one) => one.checkpoint_id !== file.latest),
    ...stored.filter((one) => one.checkpoint_id === file.latest),
  ]);
  const total = file.pages === 0 ? entries.length : file.total_checkpoints;
  const index = { ...file, total_checkpoints: total, checkpoints: entries };
  // Our own text is what would be written again: nothing was missing, and nothing moved.
  const isWhole = stored.every(
    ({ sequence, parent_checkpoint_id: parent }) => sequence !== undefined && parent !== undefined,
  );
  const isOwn = own !== null && isWhole && stored.at(-1)?.checkpoint_id === file.latest;
  return isOwn ? withText(index, bodyOf({ text })) : withText(index);
}

export function parsePage(text: string): readonly IndexEntry[] {
  return completed(validated(PageFile, readOwnPage(text) ?? readYaml(text)).checkpoints);
}

/** An index with its text. `body` saves writing the entries again when they are there as text already. */
export function withText(index: Omit<CheckpointIndex, "text">, body?: string): CheckpointIndex {
  const { issue_number, latest, total_checkpoints: total, pages, checkpoints } = index;
  const head = `issue_number: ${issue_number}\nlatest: ${latest}\ntotal_checkpoints: ${total}\npages: ${pages}\n`;
  return { ...index, text: `${head}checkpoints:\n${body ?? checkpoints.map(emitEntry).join("")}` };
}

/** The entries of an index as they stand in its text. */
export function bodyOf({ text }: Pick<CheckpointIndex, "text">): string {
  return text.slice(text.indexOf("\ncheckpoints:\n") + "\ncheckpoints:\n".length);
}

export function pageText(issue: number, page: number, entries: readonly IndexEntry[]): string {
  return `issue_number: ${issue}\npage: ${page}\ncheckpoints:\n${entries.map(emitEntry).join("")}`;
}

/** Entries of pages and index in the order the checkpoints were stored: those that may go stay behind the others. */
export function inStoredOrder(entries: readonly IndexEntry[]): IndexEntry[] {
  return entries.toSorted((one, other) => one.sequence - other.sequence);
}

function readOwnIndex(text: string): unknown {
  const [whole, issue, latest, total, pages] = header.exec(text) ?? [];
  const checkpoints = whole === undefined ? null : readOwnEntries(text, whole.length);
  if (checkpoints === null) return null;
  const counts = { total_checkpoints: Number(total), pages: Number(pages ?? 0) };
  return { issue_number: Number(issue), latest, ...counts, checkpoints };
}

function readOwnPage(text: string): unknown {
  const [whole, issue, page] = pageHeader.exec(text) ?? [];
  const checkpoints = whole === undefined ? null : readOwnEntries(text, whole.length);
  return checkpoints === null ? null : { issue_number: Number(issue), page: Number(page), checkpoints };
}

function readYaml(text: string): unknown {
  try {
    return parseYaml(text, { maxBytes: maxIndexBytes, maxDepth: 8 }).value;
  } catch (cause) {
    throw invalid(messageOf(cause), cause);
  }
}

function validated<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(`${issue?.path.map(String).join(".")}: ${issue?.message}`, parsed.error);
}

export function invalid(reason: string, cause?: unknown): CrunchError {
  return new CrunchError({
    code: "index_invalid",
    message: `The checkpoint index is not valid: ${reason}.`,
    hint: "Restore the index files of the chain from the previous commit of the storage branch.",
    cause,
  });
}
