import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decodeCheckpoint, encodeCheckpoint } from "../../src/checkpoint/codec.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { CrunchError } from "../../src/errors.js";
import { corruptions } from "./corruptions.js";
import { createRandom } from "./forge.js";

const total = 10_000;
const seed = Number(process.env.CRUNCH_SEED ?? 20250114);
const fixtures = ["v1.0.yaml", "v1.1.yaml"].map((name) =>
  decodeCheckpoint(readFileSync(join(import.meta.dirname, "../fixtures/checkpoints", name))),
);
const originals = fixtures.map((checkpoint): [Checkpoint, Buffer] => [
  // Both need a parent that the corruption can swap.
  { ...checkpoint, parent_checkpoint_id: "CP-enrich-20250114-a3f2" },
  Buffer.from(encodeCheckpoint({ ...checkpoint, parent_checkpoint_id: "CP-enrich-20250114-a3f2" })),
]);

/** Why a person could not make use of the error; null when they can. */
function flawOf(error: unknown): string | null {
  if (!(error instanceof CrunchError)) return `not a CrunchError: ${error}`;
  if (!/^checkpoint_[a-z_]+$/.test(error.code)) return `the code ${error.code}`;
  if (!/^The checkpoint[^\p{C}]{10,400}\.$/u.test(error.message))
    return `the message ${JSON.stringify(error.message)}`;
  if (/undefined|\[object|NaN/.test(error.message)) return `the message ${error.message}`;
  return /^[A-Z].{10,200}\.$/.test(error.hint) ? null : `the hint ${error.hint}`;
}

describe(`${total} corrupted checkpoints`, () => {
  const names = Object.keys(corruptions);
  const count = Math.ceil(total / names.length);

  it.each(names)("%s: refused with a reason for people, and never taken for something else", (name) => {
    const random = createRandom(seed + names.indexOf(name));
    const flaws: string[] = [];
    let refused = 0;
    let slowest = 0;
    for (let round = 0; round < count; round += 1) {
      const [original, file] = random.pick(originals);
      const bytes = corruptions[name]?.(file, original, random) ?? file;
      const start = performance.now();
      try {
        const accepted = decodeCheckpoint(bytes);
        if (!isDeepStrictEqual(accepted, original)) flaws.push(`round ${round}: accepted as something else`);
      } catch (error) {
        refused += 1;
        const flaw = flawOf(error);
        if (flaw !== null) flaws.push(`round ${round}: ${flaw}`);
      }
      slowest = Math.max(slowest, performance.now() - start);
    }
    expect(flaws.slice(0, 5)).toEqual([]);
    // A flipped bit in the padding of compressed data can leave the content as it was.
    expect(refused).toBeGreaterThanOrEqual(name === "broken compression" ? count * 0.9 : count);
    expect(slowest).toBeLessThan(1500);
  });

  it("are all broken: the originals load", () => {
    for (const [original, file] of originals) {
      expect(decodeCheckpoint(file)).toEqual(original);
      expect(decodeCheckpoint(gzipSync(file))).toEqual(original);
    }
  });
});
