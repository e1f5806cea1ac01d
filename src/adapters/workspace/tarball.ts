import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { CrunchError } from "../../errors.js";
import { runTool } from "../process/run-tool.js";
import { toolEnvironment } from "./tool-environment.js";

export type Tarball = Buffer | Readable | ReadableStream<Uint8Array>;

/** Unpacks a gzipped tarball that has one top folder, without that folder, into an empty directory. */
export async function extractTarball(tarball: Tarball, directory: string): Promise<void> {
  const input = Buffer.isBuffer(tarball) || tarball instanceof Readable ? tarball : Readable.fromWeb(tarball);
  try {
    await runTool(["tar", "-xzf", "-", "--strip-components=1", "--no-same-owner", "-C", directory], {
      directory,
      env: toolEnvironment(directory),
      input,
    });
  } catch (cause) {
    throw new CrunchError({
      code: "tarball_unreadable",
      message: "The repository's files could not be unpacked.",
      hint: "The download may have been cut off: run the phase again. Crunch needs `tar` and `gzip`.",
      cause,
    });
  }
}
