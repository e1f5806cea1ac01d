import { gunzipSync, gzipSync } from "node:zlib";
import { CrunchError, messageOf } from "../errors.js";
import { invalidCheckpoint } from "./refusal.js";

export function compressed(text: string): Buffer {
  return gzipSync(text, { level: 6 });
}

export function isCompressed(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Decided by the first bytes, not by a name. Never more than the limit: a few bytes can stand for gigabytes. */
export function inflated(bytes: Buffer, maxBytes: number): Buffer {
  if (!isCompressed(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    const isBomb = cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE";
    if (!isBomb) throw invalidCheckpoint(`it can't be decompressed (${messageOf(cause)})`, cause);
    throw new CrunchError({
      code: "checkpoint_too_large",
      message: `The checkpoint has more than the limit of ${maxBytes} bytes once it is decompressed.`,
      hint: "Crunch never writes that. Continue from an earlier checkpoint with `/crunch rollback`.",
      cause,
    });
  }
}
