import { isMap, isScalar, isSeq, type Pair, type ParsedNode } from "yaml";
import { type Position, YamlError, type YamlErrorCode } from "./yaml-error.js";

type PositionAt = (offset: number) => Position;
type Entry = Pair<ParsedNode, ParsedNode | null>;

/** The node as plain data. Recursion is safe: the depth was limited before the node was composed. */
export function plainValue(node: ParsedNode | null, positionAt: PositionAt): unknown {
  if (node === null) return null;
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item) => plainValue(item as ParsedNode, positionAt));
  if (!isMap(node)) throw refusal("yaml_alias", "aliases (*name) are not allowed", node, positionAt);

  const seen = new Set<string>();
  const result: Record<string, unknown> = {};
  for (const { key, value } of node.items as Entry[]) {
    const name = keyName(key, positionAt);
    if (seen.has(name)) {
      throw refusal("yaml_duplicate_key", `the key ${quote(name)} appears twice`, key, positionAt);
    }
    seen.add(name);
    result[name] = plainValue(value, positionAt);
  }
  return result;
}

function keyName(key: ParsedNode, positionAt: PositionAt): string {
  if (!isScalar(key) || key.value === null) {
    throw refusal("yaml_syntax", "a key must be plain text", key, positionAt);
  }
  const name = String(key.value);
  if (name === "<<" && key.type === "PLAIN") {
    throw refusal("yaml_alias", "merge keys (<<) are not allowed", key, positionAt);
  }
  // As a key it would set the prototype instead of a property, here or in whatever copies the data.
  if (name === "__proto__") {
    throw refusal("yaml_syntax", 'the key "__proto__" is not allowed', key, positionAt);
  }
  return name;
}

function refusal(code: YamlErrorCode, detail: string, node: ParsedNode, positionAt: PositionAt) {
  return new YamlError({
    code,
    detail,
    at: positionAt(node.range[0]),
    hint: "Correct the key at this place.",
  });
}

/** The offset where the entry at `path` begins, or its nearest parent when it is absent. */
export function startOf(root: ParsedNode, path: readonly PropertyKey[]): number {
  let node: ParsedNode | null = root;
  let start = root.range[0];
  for (const part of path) {
    if (isMap(node)) {
      const entry: Entry | undefined = (node.items as Entry[]).find(
        ({ key }) => isScalar(key) && String(key.value) === String(part),
      );
      if (entry === undefined) break;
      start = entry.key.range[0];
      node = entry.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(part)] as ParsedNode | undefined;
      if (item === undefined) break;
      start = item.range[0];
      node = item;
    } else break;
  }
  return start;
}

function quote(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}
