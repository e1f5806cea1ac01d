import { Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";

/**
 * JSON as CEL takes it. Whole numbers become its ints, or `5 == state.count + 1` would compare an int with a double;
 * maps become a `Map`, so that a key named `constructor` is a key and nothing else.
 */
export function toCel(value: unknown): unknown {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => toCel(item ?? null));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return new Map(entries.map(([key, entry]) => [key, toCel(entry)]));
}

/** What CEL gives as JSON. */
export function fromCel(value: unknown): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "bigint":
      return wholeNumber(value);
    case "number":
      if (!Number.isFinite(value)) throw new Error(`it gives ${value}, which is no number for JSON`);
      return value;
  }
  if (value === null) return null;
  if (Array.isArray(value)) return value.map(fromCel);
  if (value instanceof UnsignedInt) return wholeNumber(value.valueOf());
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Duration) return value.toString();
  if (value instanceof Map) return fromEntries([...value]);
  if (isPlainMap(value)) return fromEntries(Object.entries(value));
  throw new Error("it gives a value that JSON can't say");
}

function fromEntries(entries: readonly (readonly [unknown, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries.map(([key, value]) => [String(key), fromCel(value)]));
}

function isPlainMap(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function wholeNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error(`it gives ${value}, a number too large to be exact`);
  return number;
}
