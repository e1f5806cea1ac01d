export interface Waiting {
  readonly dependsOn?: readonly string[];
}

/** The tasks that would never begin: they wait for each other, or for one that does. */
export function waitingInACircle(tasks: Readonly<Record<string, Waiting>>): readonly string[] {
  const left = new Set(Object.keys(tasks));
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const name of left)
      if ((tasks[name]?.dependsOn ?? []).every((needed) => !left.has(needed))) left.delete(name);
  }
  return [...left];
}
