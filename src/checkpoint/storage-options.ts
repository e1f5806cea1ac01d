import { CrunchError } from "../errors.js";
import { defaultLayout, type Layout } from "./layout.js";

/** How a chain's files are written: `storage` of the configuration. */
export interface StorageOptions {
  readonly layout: Layout;
  /** Checkpoints are written as `CP-….yaml.gz`. Both forms are read in any case. */
  readonly compress: boolean;
  /** What one put may write, all its files together. */
  readonly maxBytes: number;
}

export const defaultStorage: StorageOptions = {
  layout: defaultLayout,
  compress: false,
  maxBytes: 50 * 1024 * 1024,
};

export function refusePutOver(maxBytes: number, contents: readonly (Buffer | string | null)[]): void {
  let size = 0;
  for (const content of contents) size += content === null ? 0 : Buffer.byteLength(content);
  if (size <= maxBytes) return;
  throw new CrunchError({
    code: "checkpoint_too_large",
    message: `The checkpoint and its files have ${size} bytes together, more than the limit of ${maxBytes}.`,
    hint: "Let the agent write smaller files, or raise `checkpoint.storage.max_size_mb` in .github/crunch.yml.",
  });
}
