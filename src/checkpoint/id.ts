import { z } from "zod";

/** `CP-<phase>-<yyyymmdd>-<hex>`. Checked before any I/O, because an id becomes a file name. */
export const CheckpointId = z
  .string()
  .max(100)
  .regex(
    /^CP-[a-z][a-z0-9_]*(?:-[a-z0-9_]+)*-\d{8}-[0-9a-f]{4,32}$/,
    "not a checkpoint id (CP-<phase>-<yyyymmdd>-<hex>)",
  );
export type CheckpointId = z.infer<typeof CheckpointId>;

export function isCheckpointId(text: string): boolean {
  return CheckpointId.safeParse(text).success;
}

/** In a long chain nobody looks through all ids for one that is taken: there they are long enough to be unique. */
const longChain = 128;

/** Four hex digits at first, longer when they are taken. `randomHex` gives at least 32 digits. */
export function newCheckpointId(options: {
  phase: string;
  /** The checkpoint's place in the chain. */
  sequence: number;
  now: Date;
  isTaken: (id: CheckpointId) => boolean;
  randomHex: () => string;
}): CheckpointId {
  const day = options.now.toISOString().slice(0, 10).replaceAll("-", "");
  for (let digits = options.sequence < longChain ? 4 : 16; ; digits = Math.min(digits + 2, 32)) {
    const id = `CP-${options.phase}-${day}-${options.randomHex().slice(0, digits)}`;
    if (!options.isTaken(id)) return CheckpointId.parse(id);
  }
}
