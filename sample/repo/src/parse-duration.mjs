const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a duration such as `90s` or `1h30m`. */
export function parseDuration(text) {
  const match = /^(\d+)(ms|s|m|h|d)/.exec(text);
  if (match === null) throw new TypeError(`not a duration: ${JSON.stringify(text)}`);
  return Number(match[1]) * MILLISECONDS[match[2]];
}
