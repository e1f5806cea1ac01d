/** Every value inside that is not itself a list or a map (an empty one counts), with the way to it. */
export function leavesOf(value: unknown, path = ""): readonly { path: string; value: unknown }[] {
  if (typeof value !== "object" || value === null) return [{ path, value }];
  const entries = Object.entries(value);
  if (entries.length === 0) return [{ path, value }];
  return entries.flatMap(([key, inner]) => leavesOf(inner, path === "" ? key : `${path}.${key}`));
}
