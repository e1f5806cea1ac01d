import type { z } from "zod";

/** The entries that were given: to `exactOptionalPropertyTypes`, undefined is not the same as absent. */
export function given<T extends object>(entries: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

/** Refuses the keys that make no sense for what this is, each with what it is for. */
export function refuseKeys(
  context: z.core.$RefinementCtx,
  entries: object,
  options: {
    readonly of: string;
    readonly is: string;
    readonly only: Readonly<Record<string, readonly string[]>>;
  },
): void {
  const { of, is, only } = options;
  for (const key of Object.keys(given(entries))) {
    const kinds = only[key];
    if (!kinds || kinds.includes(is)) continue;
    const message = `\`${key}\` is only for the ${of} ${kinds.join(", ")}; here the ${of} is ${is}.`;
    context.addIssue({ code: "custom", path: [key], message });
  }
}

/** For editors, as JSON Schema: with this value of a key another one is needed. */
export function needsWith(key: string, value: string, needed: string) {
  return {
    if: { properties: { [key]: { const: value } }, required: [key] },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { required: [needed] },
  };
}
