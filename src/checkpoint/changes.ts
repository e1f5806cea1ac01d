/** A value that is not what it was. */
export interface Change<T> {
  readonly before: T;
  readonly after: T;
}

export interface SetChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The change between two values, or null when there is none. */
export function changed<T extends string | number | boolean | null>(before: T, after: T): Change<T> | null {
  return before === after ? null : { before, after };
}

/** Lists of names compare as sets: their order says nothing. */
export function setChange(before: readonly string[], after: readonly string[]): SetChange {
  const [old, now] = [new Set(before), new Set(after)];
  return {
    added: [...now].filter((one) => !old.has(one)),
    removed: [...old].filter((one) => !now.has(one)),
  };
}

export interface Pair<T> {
  readonly key: string;
  readonly before: T | null;
  readonly after: T | null;
}

/** Two records side by side, key by key, in the order of the later one. */
export function pairs<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>): Pair<T>[] {
  const old = new Map(Object.entries(before));
  const now = new Map(Object.entries(after));
  return [...new Set([...now.keys(), ...old.keys()])].map((key) => ({
    key,
    before: old.get(key) ?? null,
    after: now.get(key) ?? null,
  }));
}
