import { emitYaml } from "./emit-yaml.js";

type Plain = Record<string, unknown>;

/**
 * The data of a text that emitYaml() wrote, or null for any other text. Ten times as fast as a whole YAML parser, and
 * it need not be trusted: what it reads only counts if it is written as exactly the same text again.
 */
export function readOwnYaml(text: string, maxDepth: number): Plain | null {
  if (!text.endsWith("\n")) return null;
  const reader = { lines: text.slice(0, -1).split("\n"), at: 0, depthLeft: maxDepth };
  const value = readMap(reader, "");
  return value !== null && reader.at === reader.lines.length && emitYaml(value) === text ? value : null;
}

interface Reader {
  readonly lines: string[];
  at: number;
  depthLeft: number;
}

/** Undefined, which no YAML holds, stands for what this reader does not understand. */
type Value = unknown;

function readMap(reader: Reader, indent: string): Plain | null {
  if (--reader.depthLeft < 0) return null;
  const map: Plain = {};
  for (; reader.at < reader.lines.length; ) {
    const line = reader.lines[reader.at] ?? "";
    if (!line.startsWith(indent) || line[indent.length] === " " || line[indent.length] === "-") break;
    const end = keyEnd(line, indent.length);
    if (end === -1) return null;
    const key = readScalar(line.slice(indent.length, end));
    if (typeof key !== "string" || key === "__proto__") return null;
    reader.at++;
    const value = readValue(reader, line.slice(end + 1), indent);
    if (value === undefined) return null;
    map[key] = value;
  }
  reader.depthLeft++;
  return map;
}

/** Where the colon after a key is. */
function keyEnd(line: string, start: number): number {
  if (line[start] !== '"') return line.indexOf(":", start);
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === '"') return line[at + 1] === ":" ? at + 1 : -1;
  }
  return -1;
}

function readValue(reader: Reader, rest: string, indent: string): Value {
  if (rest === "") {
    const next = reader.lines[reader.at] ?? "";
    const isList = next.startsWith(`${indent}  -`);
    return (isList ? readList(reader, `${indent}  `) : readMap(reader, `${indent}  `)) ?? undefined;
  }
  if (rest === " |" || rest === " |-") return readBlock(reader, `${indent}  `, rest === " |");
  return readScalar(rest.slice(1));
}

function readList(reader: Reader, indent: string): unknown[] | null {
  if (--reader.depthLeft < 0) return null;
  const list: unknown[] = [];
  for (; reader.at < reader.lines.length; ) {
    const line = reader.lines[reader.at] ?? "";
    if (!line.startsWith(`${indent}-`)) break;
    const rest = line.slice(indent.length + 1);
    let value: Value;
    if (isMapStart(rest)) {
      // The first key stands behind the dash; as a line of its own the map reads like any other.
      reader.lines[reader.at] = `${indent}  ${rest.slice(1)}`;
      value = readMap(reader, `${indent}  `) ?? undefined;
    } else {
      reader.at++;
      value = readValue(reader, rest, indent);
    }
    if (value === undefined) return null;
    list.push(value);
  }
  reader.depthLeft++;
  return list;
}

function isMapStart(rest: string): boolean {
  const end = keyEnd(rest, 1);
  return end !== -1 && (end === rest.length - 1 || rest[end + 1] === " ");
}

function readBlock(reader: Reader, indent: string, isEnded: boolean): string {
  const lines: string[] = [];
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? "";
    if (line !== "" && !line.startsWith(indent)) break;
    lines.push(line.slice(indent.length));
  }
  return lines.join("\n") + (isEnded ? "\n" : "");
}

const constants = new Map<string, unknown>([
  ...([
    ["true", true],
    ["false", false],
    ["null", null],
    ["-0", -0],
  ] as const),
]);

function readScalar(source: string): Value {
  if (source.startsWith('"')) {
    try {
      return JSON.parse(source);
    } catch {
      return undefined;
    }
  }
  if (source === "[]") return [];
  if (source === "{}") return {};
  if (constants.has(source)) return constants.get(source);
  return /^-?\d/.test(source) ? Number(source) : source;
}
