const MARK = "[redacted]";
/** Shorter values are words: replacing them would destroy the text around. */
const SHORTEST_SECRET = 8;
/** How much of an end may be missing and the value still be recognised. */
const CUT = 6;
/** Longer values are looked for in pieces, so that a part of a private key is found too. */
const PIECE = 64;

type Extent = "exact" | "base64" | "hex";
interface Needle {
  readonly text: string;
  readonly extent: Extent;
  /** What stands before and after `text` in the whole value, replaced too where it is there. */
  readonly before: string;
  readonly after: string;
}
interface Range {
  start: number;
  end: number;
}

const TOKEN_PATTERNS = [
  /gh[pousr]_[A-Za-z0-9]{16}[A-Za-z0-9_.-]*/g,
  /github_pat_[A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_]{20,}[A-Za-z0-9_-]*/g,
  /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}/g,
  /(?<![A-Za-z0-9_])glpat-[A-Za-z0-9_-]{20,}/g,
  // The look-behind keeps this linear: a run of "eyJeyJ…" is tried once, not at every "eyJ".
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
];
const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;

/** Replaces the given secrets, however they are encoded, cut or split, and all that looks like a token. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const needles = [...new Set(secrets)].flatMap(piecesOf).flatMap(needlesOf);
  return (text) => {
    const known = needles.length === 0 ? text : replaceRanges(text, findNeedles(text, needles));
    return TOKEN_PATTERNS.reduce((result, pattern) => result.replace(pattern, MARK), redactKeys(known));
  };
}

/** A value of several lines leaks line by line; a long one, part by part. */
function piecesOf(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n|\\n/).map((line) => line.trim());
  const bodies = lines.length === 1 ? lines : lines.filter((line) => !/^-----.*-----$/.test(line));
  return bodies.filter((line) => line.length >= SHORTEST_SECRET).flatMap(chunk);
}

function chunk(line: string): readonly string[] {
  if (line.length <= 2 * PIECE) return [line];
  const count = Math.floor(line.length / PIECE);
  return Array.from({ length: count }, (_, i) =>
    line.slice(i * PIECE, i === count - 1 ? undefined : (i + 1) * PIECE),
  );
}

function needlesOf(secret: string): readonly Needle[] {
  const front = Math.min(CUT, secret.length - SHORTEST_SECRET);
  // Only long values may also miss their end: of a short one too little would be left to be sure.
  const back = secret.length >= 4 * CUT ? CUT : 0;
  const core = secret.slice(front, secret.length - back);
  const before = secret.slice(0, front);
  const after = secret.slice(secret.length - back);

  const exact = (encode: (part: string) => string): Needle => ({
    text: squeezed(encode(core)),
    extent: "exact",
    before: squeezed(encode(before)),
    after: squeezed(encode(after)),
  });
  const run = (text: string, extent: Extent): Needle => ({ text, extent, before: "", after: "" });
  // The whole value besides its core: where its code is wrapped, the ends may stand on lines of their own.
  const bytes = [Buffer.from(core), Buffer.from(secret)];
  const base64 = bytes.flatMap((part) => [0, 1, 2].map((alignment) => stableBase64(part, alignment)));
  const hex = bytes.map((part) => part.toString("hex"));
  const all = [
    exact((part) => part),
    exact((part) => JSON.stringify(part).slice(1, -1)),
    exact(urlEncoded),
    exact((part) => urlEncoded(part).replace(/%../g, (code) => code.toLowerCase())),
    exact((part) => percentEncoded(part)),
    exact((part) => percentEncoded(part).toUpperCase()),
    ...base64.map((text) => run(text, "base64")),
    ...base64.map((text) => run(text.replaceAll("+", "-").replaceAll("/", "_"), "base64")),
    ...hex.flatMap((text) => [run(text, "hex"), run(text.toUpperCase(), "hex")]),
  ];
  return [...new Map(all.map((needle) => [needle.text, needle])).values()].filter(({ text }) => text !== "");
}

/** A value cut between two halves of a character can't be URL-encoded as it is. */
function urlEncoded(part: string): string {
  return encodeURIComponent(Buffer.from(part).toString("utf8"));
}

function percentEncoded(part: string): string {
  return Buffer.from(part).toString("hex").replace(/../g, "%$&");
}

/** The characters that are the same whatever stands before and after the value, for one of 3 alignments. */
function stableBase64(bytes: Buffer, alignment: number): string {
  const encoded = Buffer.concat([Buffer.alloc(alignment), bytes]).toString("base64");
  const firstOwn = alignment === 0 ? 0 : alignment + 1;
  return encoded.slice(firstOwn, Math.floor(((alignment + bytes.length) * 8) / 6));
}

// White space, control characters, zero-width characters and terminal codes.
const FILLER =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what hides a split secret.
  /(?:\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|[@-Z\\-_])|[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2060\ufeff])+/g;

function squeezed(text: string): string {
  return text.replace(FILLER, "");
}

/** Looks in the text without its filler, so that a value split over lines is whole again. */
function findNeedles(text: string, needles: readonly Needle[]): Range[] {
  const positions = new Uint32Array(text.length);
  const parts: string[] = [];
  let length = 0;
  const take = (from: number, to: number) => {
    parts.push(text.slice(from, to));
    for (let at = from; at < to; at++) positions[length++] = at;
  };
  let from = 0;
  for (const filler of text.matchAll(FILLER)) {
    take(from, filler.index);
    from = filler.index + filler[0].length;
  }
  take(from, text.length);
  const solid = parts.join("");

  const original = ({ start, end }: Range): Range => ({
    start: positions[start] ?? 0,
    end: (positions[end - 1] ?? 0) + 1,
  });
  return needles.flatMap((needle) => {
    const found = occurrences(solid, needle).map(original);
    return needle.extent === "exact" ? found : widen(text, found, needle.extent);
  });
}

function occurrences(solid: string, { text, before, after }: Needle): Range[] {
  const found: Range[] = [];
  for (let at = solid.indexOf(text); at !== -1; at = solid.indexOf(text, at + text.length)) {
    let start = at;
    for (let i = before.length - 1; i >= 0 && start > 0 && solid[start - 1] === before[i]; i--) start--;
    let end = at + text.length;
    for (let i = 0; i < after.length && solid[end] === after[i]; i++) end++;
    found.push({ start, end });
  }
  return found;
}

const ALPHABET = { base64: /[A-Za-z0-9+/=_-]/, hex: /[0-9a-fA-F]/ };

/** An encoded value shares characters with its neighbours: the whole run of its alphabet goes. */
function widen(text: string, ranges: readonly Range[], extent: "base64" | "hex"): Range[] {
  const alphabet = ALPHABET[extent];
  const wide: Range[] = [];
  for (const range of ranges) {
    const last = wide.at(-1);
    if (last && range.end <= last.end) continue;
    let { start, end } = range;
    while (start > (last?.end ?? 0) && alphabet.test(text[start - 1] ?? "")) start--;
    while (end < text.length && alphabet.test(text[end] ?? "")) end++;
    wide.push({ start, end });
  }
  return wide;
}

function replaceRanges(text: string, ranges: Range[]): string {
  ranges.sort((a, b) => a.start - b.start);
  const merged: Range[] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  let from = 0;
  const parts: string[] = [];
  for (const { start, end } of merged) {
    parts.push(text.slice(from, start), MARK);
    from = end;
  }
  return parts.join("") + text.slice(from);
}

/** By hand, because a pattern from begin to end takes quadratic time on many begins without an end. */
function redactKeys(text: string): string {
  const ends = [...text.matchAll(KEY_END)].map((match) => match.index + match[0].length);
  const ranges: Range[] = [];
  let nextEnd = 0;
  for (const { index } of text.matchAll(KEY_BEGIN)) {
    if (index < (ranges.at(-1)?.end ?? 0)) continue;
    while ((ends[nextEnd] ?? Number.POSITIVE_INFINITY) <= index) nextEnd++;
    // A key that was cut off has no end: all that follows may belong to it.
    ranges.push({ start: index, end: ends[nextEnd] ?? text.length });
  }
  return replaceRanges(text, ranges);
}

const SECRET_NAME = /TOKEN|SECRET|PASSW|CREDENTIAL|(^|_)(KEY|KEYS|PAT|PASS|PWD|DSN|AUTH)$|API_?KEY/i;
/** Addresses with a password in them. */
const ADDRESS_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/@\s:]*:[^/@\s]+@/i;

/** The values of an environment whose names say that they are secret. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value && (SECRET_NAME.test(name) || ADDRESS_WITH_PASSWORD.test(value)) ? secretsAmong([value]) : [],
  );
}

/** A setting such as `disabled` is no secret, whatever its name: hiding the word would hide it everywhere. */
export function secretsAmong(values: readonly string[]): string[] {
  return values.filter((value) => !/^(?:[a-z]{1,16}|[\d.,:-]{1,16})$/i.test(value));
}

/** Also hides these. */
export function alsoHiding(
  redact: (text: string) => string,
  secrets: readonly string[],
): (text: string) => string {
  const more = createRedactor(secrets);
  return (text) => more(redact(text));
}
