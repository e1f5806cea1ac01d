import { createHash } from "node:crypto";
import { stringify } from "yaml";

/** The same numbers for the same seed, so that a failure can be run again (mulberry32). */
export function createRandom(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick<T>(list: readonly T[]): T {
      const found = list[below(list.length)];
      if (found === undefined) throw new Error("nothing to pick from");
      return found;
    },
  };
}
export type Random = ReturnType<typeof createRandom>;
export type Data = Record<string, unknown>;

/** What a forger can do: the hash is computed anew. */
export const signed = (content: string | Buffer) =>
  Buffer.concat([
    Buffer.from(content),
    Buffer.from(`content_sha256: ${createHash("sha256").update(content).digest("hex")}\n`),
  ]);

interface Place {
  readonly parent: readonly string[];
  readonly key: string;
  readonly value: unknown;
  /** Whether the parent's keys are free: then neither a missing nor an extra one is wrong. */
  readonly isRecord: boolean;
}

const records = ["orchestrator_state.phases", "execution_graph.node_states", "agent_states", "agent_outputs"];
const freeKeys = new Set([...records, "artifacts", "notes", "acceptance_criteria"]);

/** Every entry of every map whose form the schema prescribes. In `metadata` anything is right. */
export function placesIn(data: Data, parent: readonly string[] = []): readonly Place[] {
  const path = parent.join(".");
  const isRecord = freeKeys.has(path) || /^agent_outputs\.[^.]+$/.test(path);
  return Object.entries(data).flatMap(([key, value]) => {
    const place = { parent, key, value, isRecord };
    const inner = key !== "metadata" && isMap(value) ? placesIn(value, [...parent, key]) : [];
    return [place, ...inner];
  });
}

/** Values that no field which holds `value` allows. */
export function wrongFor(value: unknown): readonly unknown[] {
  if (value === null) return [true, [true]];
  if (Array.isArray(value)) return ["text", 7, true, { a: 1 }, [[[]]]];
  if (typeof value === "string") return [7, true, ["text"], { a: 1 }];
  return ["text", [1], typeof value === "boolean" ? 0 : true];
}

function isMap(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The data with one map in it changed, written by another YAML writer and signed. */
export function forged(data: Data, path: readonly string[], change: (map: Data) => Data): Buffer {
  const at = (map: Data, [key, ...rest]: readonly string[]): Data => {
    const inner = key === undefined ? undefined : map[key];
    return key !== undefined && isMap(inner) ? { ...map, [key]: at(inner, rest) } : change(map);
  };
  return signed(stringify(at(data, path), { aliasDuplicateObjects: false }));
}
