/** ` Did you mean "x"?` for the nearest known name, or nothing when none is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const limit = name.length <= 4 ? 1 : 2;
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(loosely(name), loosely(candidate), limit);
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { name: candidate, distance };
    }
  }
  return best === undefined ? "" : ` Did you mean "${best.name}"?`;
}

const loosely = (name: string) => name.toLowerCase().replaceAll("-", "_");

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
