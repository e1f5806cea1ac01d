const KEPT_BYTES = 64 * 1024;
/** Kept besides, so that a secret cut in two where the tail begins lies in what is dropped. */
const MARGIN_BYTES = 8 * 1024;

export interface OutputTail {
  append(chunk: Buffer): void;
  finish(): { readonly output: string; readonly truncated: boolean };
}

/** Keeps the end of what is printed, redacted, in bounded memory. */
export function createOutputTail(redact: (text: string) => string): OutputTail {
  let chunks: Buffer[] = [];
  let held = 0;
  let truncated = false;

  const compact = () => {
    const joined = Buffer.concat(chunks);
    const kept = joined.subarray(Math.max(0, joined.length - KEPT_BYTES - MARGIN_BYTES));
    truncated ||= kept.length < joined.length;
    // A copy, because a view would hold on to the whole chunk.
    chunks = [Buffer.from(kept)];
    held = kept.length;
  };

  return {
    append(chunk) {
      chunks.push(chunk);
      held += chunk.length;
      if (held > 4 * (KEPT_BYTES + MARGIN_BYTES) || chunks.length > 1_000) compact();
    },
    finish() {
      compact();
      const redacted = Buffer.from(redact(Buffer.concat(chunks).toString("utf8")));
      const from = Math.max(truncated ? MARGIN_BYTES : 0, redacted.length - KEPT_BYTES);
      truncated ||= from > 0;
      return { output: redacted.subarray(characterStart(redacted, from)).toString("utf8"), truncated };
    },
  };
}

/** The next byte that begins a UTF-8 character. */
function characterStart(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return at;
}
