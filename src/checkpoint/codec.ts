import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { CrunchError, messageOf } from "../errors.js";
import { emitYaml } from "../yaml/emit-yaml.js";
import { parseYaml } from "../yaml/parse-yaml.js";
import { readOwnYaml } from "../yaml/read-own-yaml.js";
import { inflated } from "./compression.js";
import { recoveryInfo } from "./recovery.js";
import { firstIssue, invalidCheckpoint } from "./refusal.js";
import { Checkpoint } from "./schema.js";
import { upgradeCheckpoint } from "./upgrade.js";

export const maxCheckpointBytes = 16 * 1024 * 1024;
const maxDepth = 64;

const hashKey = "content_sha256: ";
/** The last line has a fixed length, so that it is found without reading what precedes it. */
const hashLineLength = hashKey.length + 64 + 1;
const hashLine = /^content_sha256: ([0-9a-f]{64})\n$/;

/** YAML whose last line is the SHA-256 of every byte before it. */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  refuseUnwritable(checkpoint, maxDepth);
  // The schema's output has the schema's order of keys, whatever order the caller built it in.
  const parsed = Checkpoint.safeParse(checkpoint);
  if (!parsed.success) throw invalidCheckpoint(firstIssue(parsed.error), parsed.error);
  const content = emitYaml(parsed.data);
  const text = `${content}${hashKey}${sha256(content)}\n`;
  refuseTooLarge(Buffer.byteLength(text), maxCheckpointBytes);
  // Only a text of this size can have more parts than the reader accepts.
  if (content.length > 2_000_000) parseContent(Buffer.from(content), maxCheckpointBytes);
  return text;
}

/** Checkpoint files are outside data too: size, hash, YAML limits, version and schema are checked in turn. */
export function decodeCheckpoint(
  bytes: Buffer | string,
  options: { readonly maxBytes?: number } = {},
): Checkpoint {
  const maxBytes = options.maxBytes ?? maxCheckpointBytes;
  const file = inflated(typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes, maxBytes);
  refuseTooLarge(file.length, maxBytes);
  const value = upgradeCheckpoint(parseContent(verifiedContent(file), maxBytes));
  const parsed = Checkpoint.safeParse(value);
  if (!parsed.success) throw invalidCheckpoint(firstIssue(parsed.error), parsed.error);
  return { ...parsed.data, recovery_info: recoveryInfo(parsed.data) };
}

function verifiedContent(file: Buffer): Buffer {
  const content = file.subarray(0, Math.max(0, file.length - hashLineLength));
  const match = hashLine.exec(file.subarray(content.length).toString("latin1"));
  if (match === null || content.at(-1) !== 0x0a) {
    throw new CrunchError({
      code: "checkpoint_truncated",
      message: `The checkpoint does not end with its own hash (a line "${hashKey}…").`,
      hint: "The file was cut or edited. Continue from an earlier checkpoint with `/crunch rollback`.",
    });
  }
  if (match[1] !== sha256(content)) {
    throw new CrunchError({
      code: "checkpoint_hash",
      message: "The checkpoint's content does not match its hash.",
      hint: "The file was changed after Crunch wrote it. Continue from an earlier checkpoint with `/crunch rollback`.",
    });
  }
  return content;
}

function parseContent(content: Buffer, maxBytes: number): unknown {
  const own = isUtf8(content) ? readOwnYaml(content.toString("utf8"), maxDepth) : null;
  if (own !== null) return own;
  try {
    return parseYaml(content, { maxBytes, maxDepth }).value;
  } catch (cause) {
    throw invalidCheckpoint(messageOf(cause), cause);
  }
}

/** What the reader would refuse must not be written. Also ends on circular metadata. */
function refuseUnwritable(value: unknown, depthLeft: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depthLeft === 0) throw invalidCheckpoint(`values are nested more than ${maxDepth} levels deep`);
  if (Object.hasOwn(value, "__proto__")) throw invalidCheckpoint('the key "__proto__" is not allowed');
  for (const inner of Object.values(value)) refuseUnwritable(inner, depthLeft - 1);
}

function refuseTooLarge(size: number, maxBytes: number): void {
  if (size <= maxBytes) return;
  throw new CrunchError({
    code: "checkpoint_too_large",
    message: `The checkpoint has ${size} bytes, more than the limit of ${maxBytes}.`,
    hint: "Keep large results in files of the issue's folder, not in the checkpoint.",
  });
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
