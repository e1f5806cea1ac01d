import fc from "fast-check";
import { expect, it } from "vitest";
import { emitYaml } from "../../src/yaml/emit-yaml.js";
import { parseYaml } from "../../src/yaml/parse-yaml.js";
import { readOwnYaml } from "../../src/yaml/read-own-yaml.js";

const limits = { maxBytes: 1_000_000, maxDepth: 64 };
const line = fc.constantFrom(
  "",
  "a",
  " b",
  "- c",
  "d: e",
  "| f",
  "# g",
  '"h"',
  "---",
  "x: |",
  "\t",
  "ü 🦀",
  "yes",
  "1.5",
);
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n")),
);
const { value: data } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, tie("leaf"), tie("list"), tie("map")),
  leaf: fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  ),
  list: fc.array(tie("value"), { maxLength: 5 }),
  map: fc.dictionary(
    text.filter((key) => key !== "__proto__"),
    tie("value"),
    { maxKeys: 5 },
  ),
}));
const document = fc.dictionary(
  text.filter((key) => key !== "__proto__"),
  data,
  { minKeys: 1, maxKeys: 8 },
);

it("what it reads is what the whole parser reads", () => {
  let read = 0;
  const property = fc.property(document, (value) => {
    const written = emitYaml(value);
    const own = readOwnYaml(written, limits.maxDepth);
    if (own === null) return;
    read++;
    expect(own).toEqual(parseYaml(written, limits).value);
  });
  fc.assert(property, { numRuns: 3_000 });
  expect(read).toBeGreaterThan(2_000);
});

it("any other text is left to the whole parser", () => {
  const own = emitYaml({ a: { b: ["x", { c: 1 }], d: "two\nlines" }, e: "" });
  expect(readOwnYaml(own, 64)).toEqual({ a: { b: ["x", { c: 1 }], d: "two\nlines" }, e: "" });
  const others = [
    "",
    "a",
    "a: 1",
    "a: 01\n",
    "a: 'x'\n",
    "a: 1 \n",
    "a: &b 1\n",
    "a: 1\na: 1\n",
    "__proto__: 1\n",
  ];
  for (const text of [...others, `# x\n${own}`, own.replace("c: 1", "c: 1.0"), own.replaceAll("\n", "\r\n")])
    expect(readOwnYaml(text, 64), JSON.stringify(text)).toBeNull();
  expect(readOwnYaml(own, 2)).toBeNull();
});
