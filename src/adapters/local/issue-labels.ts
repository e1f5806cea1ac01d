import { emitText } from "../../yaml/emit-yaml.js";
import { invalid, parseFrontMatter, splitIssue } from "./issue-file.js";

/** The file's text with other labels. All that is not the entry `labels` stays byte for byte. */
export function withLabels(text: string, labels: readonly string[], file: string): string {
  const parts = splitIssue(text, file);
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? "\n";
  if (parts.yaml === null) {
    const lines = ["---", inline(labels), "---", ""].join(lineEnd);
    return parts.opening + lines + parts.rest;
  }
  const yaml = replaceEntry(parts.yaml, labels, lineEnd, file);
  refuseSideEffects(parts.yaml, yaml, labels, file);
  return parts.opening + yaml + parts.rest;
}

function replaceEntry(yaml: string, labels: readonly string[], lineEnd: string, file: string): string {
  const lines = yaml.split(/(?<=\n)/);
  const { value, locate } = parseFrontMatter(yaml, file);
  if (!Object.hasOwn(value, "labels")) return yaml + inline(labels) + lineEnd;
  const start = locate(["labels"]).line - 1;
  const end = endOfEntry(lines, start);
  const entry = lines.slice(start, end);
  const written =
    entry.length === 1 || labels.length === 0 ? oneLine(entry, labels) : block(entry, labels, lineEnd);
  return [...lines.slice(0, start), written + lineEnd, ...lines.slice(end)].join("");
}

/** Where the entry's last line of its own is over: blank lines and comments after it belong to what follows. */
function endOfEntry(lines: readonly string[], start: number): number {
  let end = start + 1;
  for (let at = end; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (/^\s*(?:#.*)?$/.test(line.trimEnd())) continue;
    if (!/^(?:[ \t]|-[ \t\r\n])/.test(line)) break;
    end = at + 1;
  }
  return end;
}

/** Written as it was: on one line with the remark at its end, or as a list with the same indentation. */
function oneLine(entry: readonly string[], labels: readonly string[]): string {
  const remark = entry.length === 1 ? (/\s+#[^"'\]]*$/.exec(entry[0]?.trimEnd() ?? "")?.[0] ?? "") : "";
  return inline(labels) + remark;
}

function block(entry: readonly string[], labels: readonly string[], lineEnd: string): string {
  const indent = /^([ \t]*)-/m.exec(entry.slice(1).join(""))?.[1] ?? "  ";
  return ["labels:", ...labels.map((label) => `${indent}- ${emitText(label)}`)].join(lineEnd);
}

function inline(labels: readonly string[]): string {
  // A comma would end the item here.
  const items = labels.map((label) => (label.includes(",") ? JSON.stringify(label) : emitText(label)));
  return `labels: [${items.join(", ")}]`;
}

/** YAML can be written in ways that a change by lines would break, such as all of it in one pair of braces. */
function refuseSideEffects(before: string, after: string, labels: readonly string[], file: string): void {
  try {
    const wanted = { ...parseFrontMatter(before, file).value, labels };
    const found = parseFrontMatter(after, file).value;
    if (sorted(wanted) === sorted(found)) return;
  } catch (cause) {
    throw notEditable(before, file, cause);
  }
  throw notEditable(before, file);
}

function notEditable(yaml: string, file: string, cause?: unknown) {
  const line = parseFrontMatter(yaml, file).locate(["labels"]).line + 1;
  return invalid(
    file,
    line,
    "Crunch can't change the labels here: write `labels: [...]` on a line of its own",
    cause,
  );
}

function sorted(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
