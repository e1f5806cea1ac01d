export interface TarEntry {
  readonly path: string;
  readonly kind: "file" | "executable" | "symlink" | "directory" | "pax" | "pax-global";
  /** A symlink's content is its target. */
  readonly content: Buffer;
}

const BLOCK = 512;
const types = {
  file: ["0", 0o664],
  executable: ["0", 0o775],
  symlink: ["2", 0o777],
  directory: ["5", 0o775],
  pax: ["x", 0o666],
  "pax-global": ["g", 0o666],
} as const;

/** An archive as `git archive` makes it: ustar, with pax headers for paths and targets that don't fit. */
export function tar(entries: readonly TarEntry[], mtime: Date): Buffer {
  const blocks = entries.flatMap((entry) => [...longNames(entry, mtime), ...blocksOf(entry, mtime)]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

export function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  // The length counts its own digits.
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

function longNames(entry: TarEntry, mtime: Date): Buffer[] {
  const records: Buffer[] = [];
  if (Buffer.byteLength(entry.path) > 100) records.push(paxRecord("path", entry.path));
  if (entry.kind === "symlink" && entry.content.length > 100)
    records.push(paxRecord("linkpath", entry.content.toString()));
  if (records.length === 0) return [];
  return blocksOf({ path: "PaxHeader", kind: "pax", content: Buffer.concat(records) }, mtime);
}

function blocksOf(entry: TarEntry, mtime: Date): Buffer[] {
  const isLink = entry.kind === "symlink";
  const content = isLink ? Buffer.alloc(0) : entry.content;
  const [type, mode] = types[entry.kind];
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  Buffer.from(entry.path).copy(header, 0, 0, 100);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(Math.floor(mtime.getTime() / 1000), 136, 12);
  header.write(" ".repeat(8), 148);
  header.write(type, 156);
  if (isLink) entry.content.copy(header, 157, 0, 100);
  header.write("ustar\0", 257);
  header.write("00", 263);
  header.write("root", 265);
  header.write("root", 297);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return [header, content, padding];
}
