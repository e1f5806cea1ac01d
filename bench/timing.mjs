/** How long `work` takes, in milliseconds, and what it gives. */
export async function timed(work) {
  const began = performance.now();
  const value = await work();
  return { ms: performance.now() - began, value };
}

/** The value below which such a part of the list lies: 0.5 is the median. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)];
}
