import { gzipSync } from "node:zlib";
import { type Data, forged, placesIn, type Random, signed, wrongFor } from "./forge.js";

const contentOf = (file: Buffer) => file.subarray(0, file.lastIndexOf("content_sha256: "));

/** Ways to break a checkpoint's file, given its bytes and its data. */
export const corruptions: Readonly<Record<string, (file: Buffer, data: Data, random: Random) => Buffer>> = {
  truncated: (file, _, { below }) => file.subarray(0, below(file.length)),
  "flipped bytes": (file, _, { below }) => {
    const changed = Buffer.from(file);
    for (let left = 1 + below(4); left > 0; left -= 1) {
      const at = below(changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 + below(255));
    }
    return changed;
  },
  "a part cut out": (file, _, { below }) => {
    const at = below(file.length - 1);
    return Buffer.concat([file.subarray(0, at), file.subarray(at + 1 + below(200))]);
  },
  "a part repeated": (file, _, { below }) => {
    const at = below(file.length - 1);
    return Buffer.concat([file.subarray(0, at + 1 + below(100)), file.subarray(at)]);
  },
  "swapped parents": (file, data) => {
    const text = file.toString();
    const swapped = text
      .replace(/^checkpoint_id: .*/m, `checkpoint_id: ${data.parent_checkpoint_id}`)
      .replace(/^parent_checkpoint_id: .*/m, `parent_checkpoint_id: ${data.checkpoint_id}`);
    return Buffer.from(swapped);
  },
  "a changed hash line": (file, _, { below, pick }) => {
    const text = file.toString();
    const at = text.length - 2 - below(64);
    const other = pick([..."0123456789abcdefX \n"].filter((char) => char !== text[at]));
    return Buffer.from(text.slice(0, at) + other + text.slice(at + 1));
  },
  "invalid UTF-8": (file, _, random) => inserted(file, Buffer.from([0xc3, 0x28, 0xff]), random),
  NULs: (file, _, random) => inserted(file, Buffer.alloc(1 + random.below(8)), random),
  "invalid UTF-8, signed": (file, _, random) =>
    signed(inserted(contentOf(file), Buffer.from([0x80 + random.below(64), 0xff]), random)),
  "wrong types, signed": (_, data, random) => {
    const { parent, key, value } = random.pick(placesIn(data));
    const wrong = wrongFor(value);
    return forged(data, parent, (copy) => ({ ...copy, [key]: random.pick(wrong) }));
  },
  "missing keys, signed": (_, data, random) => {
    const { parent, key } = random.pick(placesIn(data).filter(({ isRecord }) => !isRecord));
    return forged(data, parent, ({ [key]: _gone, ...rest }) => rest);
  },
  "extra keys, signed": (_, data, random) => {
    const { parent } = random.pick(placesIn(data).filter(({ isRecord }) => !isRecord));
    const name = random.pick(["surprise", "constructor", "toString", "\u001b[31m\n", "x".repeat(5000)]);
    return forged(data, parent, (copy) => ({ ...copy, [name]: random.pick([null, 1, "text", { a: [] }]) }));
  },
  "__proto__ keys, signed": (file, _, { pick }) =>
    signed(`${contentOf(file)}${pick(["__proto__: {}", '"__proto__": 1', "'__proto__': {a: 1}"])}\n`),
  "duplicate keys, signed": (file, data, { pick }) =>
    signed(`${contentOf(file)}${pick(Object.keys(data))}: 1\n`),
  "alias bombs, signed": (file, _, { below }) => {
    const lines = Array.from({ length: 2 + below(8) }, (_, at) =>
      at === 0 ? "x0: &x0 [a, a, a]\n" : `x${at}: &x${at} [*x${at - 1}, *x${at - 1}, *x${at - 1}]\n`,
    );
    return signed(lines.join("") + contentOf(file));
  },
  "deep nesting, signed": (file, _, { below, pick }) => {
    const levels = 70 + below(3000);
    return signed(`${contentOf(file)}deep: ${pick(["[", "{a: ", "- ", "? "]).repeat(levels)}\n`);
  },
  "huge numbers, signed": (file, _, { pick }) => {
    const number = pick(["1e400", "-1e400", "9".repeat(40), "9".repeat(20_000), ".inf", ".nan", "-1", "0.5"]);
    const field = pick(["sequence", "phase_version", "duration_ms", "issue_number"]);
    return signed(
      contentOf(file)
        .toString()
        .replace(new RegExp(`^${field}: .*`, "m"), `${field}: ${number}`),
    );
  },
  "another version, signed": (file, _, { pick }) => {
    const version = pick(['"1.0"', '"1.2"', '"9.9"', "1.1", "null", "[]", "{}", `"${"9".repeat(9999)}"`]);
    return signed(
      contentOf(file)
        .toString()
        .replace(/^version: .*/m, `version: ${version}`),
    );
  },
  "ids that are paths, signed": (file, _, { pick }) => {
    const id = pick([
      "../../x",
      "/etc/passwd",
      "CP-x-20250114-a3f2/../../y",
      "CP-x-20250114-zzzz",
      "",
      "CP\\0",
    ]);
    const text = contentOf(file)
      .toString()
      .replace(/^checkpoint_id: .*/m, `checkpoint_id: "${id.replace("\\", "\\\\")}"`);
    return signed(text);
  },
  "other documents, signed": (_, __, { pick }) =>
    signed(
      pick([
        "",
        "\n",
        "- a\n",
        "text\n",
        "null\n",
        "42\n",
        "{}\n",
        "a: 1\n---\nb: 2\n",
        "%YAML 1.1\n---\na: 1\n",
        "!!js/function x\n",
      ]),
    ),
  "broken compression": (file, _, { below }) => {
    const packed = gzipSync(file);
    return below(2) === 0 ? packed.subarray(0, 3 + below(packed.length - 3)) : flippedBody(packed, below);
  },
};

function inserted(bytes: Buffer, added: Buffer, { below }: Random): Buffer {
  const at = below(bytes.length);
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)]);
}

function flippedBody(packed: Buffer, below: Random["below"]): Buffer {
  const changed = Buffer.from(packed);
  const at = 10 + below(changed.length - 10);
  changed[at] = (changed[at] ?? 0) ^ (1 << below(8));
  return changed;
}
