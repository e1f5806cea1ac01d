import type { Finding } from "./problems.js";

interface Gated {
  /** Of the phase whose gates these are. */
  readonly path: readonly PropertyKey[];
  readonly gates: readonly { readonly name: string }[];
}

/** Each gate is a check of its own on GitHub, by its name. */
export function repeatedGates(phases: readonly Gated[]): (Finding & { path: PropertyKey[] })[] {
  const seen = new Set<string>();
  const repeated: (Finding & { path: PropertyKey[] })[] = [];
  for (const { path, gates } of phases) {
    for (const [index, { name }] of gates.entries()) {
      const message = `the gate name ${JSON.stringify(name)} is used twice, but each gate is a check of its own. Give it another \`name\`.`;
      if (seen.has(name)) repeated.push({ path: [...path, "gates", index], message });
      seen.add(name);
    }
  }
  return repeated;
}
