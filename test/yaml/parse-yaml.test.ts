import { describe, expect, it } from "vitest";
import { CrunchError } from "../../src/errors.js";
import { parseYaml } from "../../src/yaml/parse-yaml.js";

const limits = { maxBytes: 10_000_000, maxDepth: 30 };
const parse = (text: string | Buffer) => parseYaml(text, limits).value;

function refusal(text: string | Buffer, given = limits): { code: string; message: string } {
  try {
    parseYaml(text, given);
  } catch (error) {
    if (error instanceof CrunchError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("was not refused");
}

describe("reading YAML from outside", () => {
  it("gives plain data", () => {
    expect(parse("a: 1\nb: [x, 'y']\nc:\n  - d: true\n    e: ~\nf: 2025-01-14\n")).toEqual({
      a: 1,
      b: ["x", "y"],
      c: [{ d: true, e: null }],
      f: "2025-01-14",
    });
    expect(parse("")).toBeNull();
    expect(parse("# only a comment\n")).toBeNull();
    expect(parse("---\na: 1\n")).toEqual({ a: 1 });
  });

  it("tells the line and column of what it refuses", () => {
    expect(refusal("a: 1\nb: [1, 2\nc: 3\n")).toMatchObject({
      code: "yaml_syntax",
      message: expect.stringMatching(/\(line \d+, column \d+\)$/),
    });
    expect(refusal("a: 1\nb: 2\na: 3\n")).toEqual({
      code: "yaml_duplicate_key",
      message: 'the key "a" appears twice (line 3, column 1)',
    });
  });

  it("locates an entry, or the nearest parent of an absent one", () => {
    const yaml = parseYaml("a: 1\nb:\n  - x\n  - y: 2\n    z: 3\n", limits);
    expect(yaml.locate(["a"])).toEqual({ line: 1, column: 1 });
    expect(yaml.locate(["b", 1, "z"])).toEqual({ line: 5, column: 5 });
    expect(yaml.locate(["b", 1, "nope", "x"])).toEqual({ line: 4, column: 5 });
    expect(yaml.locate(["nope"])).toEqual({ line: 1, column: 1 });
    expect(parseYaml("", limits).locate(["a"])).toEqual({ line: 1, column: 1 });
  });

  it.each([
    ["an anchor", "a: &x 1\n", "yaml_alias"],
    ["an alias", "a: *x\n", "yaml_alias"],
    ["an alias bomb", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "yaml_alias"],
    ["a merge key", "<<: {a: 1}\n", "yaml_alias"],
    ["a custom tag", "a: !!js/function x\n", "yaml_tag"],
    ["a standard tag", "a: !!binary aGk=\n", "yaml_tag"],
    ["a directive", "%YAML 1.1\n---\na: yes\n", "yaml_tag"],
    ["a second document", "a: 1\n---\nb: 2\n", "yaml_syntax"],
    ["a document after an end marker", "a: 1\n...\nb: 2\n", "yaml_syntax"],
    ["a duplicate key in flow style", "a: {b: 1, b: 2}\n", "yaml_duplicate_key"],
    ["keys that become the same text", '1: a\n"1": b\n', "yaml_duplicate_key"],
    ["a list as key", "[a, b]: 1\n", "yaml_syntax"],
    ["an empty key", ": 1\n", "yaml_syntax"],
    ["the key __proto__", "__proto__: {polluted: true}\n", "yaml_syntax"],
    ["the key __proto__ in quotes", '{"__proto__": {polluted: true}}\n', "yaml_syntax"],
    ["a tab as indentation", "a:\n\tb: 1\n", "yaml_syntax"],
    ["an unclosed quote", 'a: "b\n', "yaml_syntax"],
  ])("refuses %s", (_name, text, code) => {
    expect(refusal(text).code).toBe(code);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("takes the characters of anchors, aliases, tags and merge keys as text within quotes and blocks", () => {
    expect(parse('a: "&x"\nb: "*x"\nc: "!x"\n"<<": 1\nd: |\n  &x *y !z\n  --- \n  %YAML\n')).toEqual({
      a: "&x",
      b: "*x",
      c: "!x",
      "<<": 1,
      d: "&x *y !z\n--- \n%YAML\n",
    });
  });

  it("keeps the names of object members as plain own properties", () => {
    const value = parse("constructor: 1\ntoString: 2\nhasOwnProperty: 3\n");
    expect(Object.entries(value as object)).toEqual([
      ["constructor", 1],
      ["toString", 2],
      ["hasOwnProperty", 3],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(refusal(Buffer.from([0x61, 0x3a, 0x20, 0xff])).code).toBe("yaml_syntax");
  });

  it("counts bytes, not characters, and accepts a file of exactly the limit", () => {
    const text = "a: éé\n";
    expect(parseYaml(text, { maxBytes: 8, maxDepth: 5 }).value).toEqual({ a: "éé" });
    expect(refusal(text, { maxBytes: 7, maxDepth: 5 }).code).toBe("yaml_too_large");
    expect(refusal(Buffer.from(text), { maxBytes: 7, maxDepth: 5 }).code).toBe("yaml_too_large");
  });

  it.each([
    ["flow lists", "[".repeat(31) + "]".repeat(31)],
    ["flow maps", "{a: ".repeat(31) + "}".repeat(31)],
    ["lists in one line", `${"- ".repeat(31)}x`],
    ["keys in one line", `${"? ".repeat(31)}x`],
    ["lines", Array.from({ length: 31 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
    ["lists by lines", Array.from({ length: 31 }, (_, depth) => `${" ".repeat(depth)}-`).join("\n")],
  ])("refuses %s that nest much deeper than the limit", (_name, text) => {
    expect(refusal(text, { maxBytes: 10_000, maxDepth: 20 }).code).toBe("yaml_too_deep");
  });

  it("accepts nesting up to the limit", () => {
    expect(parse("[".repeat(30) + "]".repeat(30))).toBeInstanceOf(Array);
  });

  it("does not count brackets, dashes and indentation inside text", () => {
    const body = `${"[".repeat(5000)}\n${"{a: ".repeat(2000)}\n${"- ".repeat(500)}\n${" ".repeat(500)}x\n`;
    const block = `body: |\n${body.replaceAll(/^/gm, "  ")}`;
    expect(parse(block)).toMatchObject({ body: expect.stringContaining("[[[[") });
    expect(parse(`body: ${JSON.stringify(body)}\n`)).toEqual({ body });
  });
});

describe("the time reading takes", () => {
  function milliseconds(text: string): number {
    const start = performance.now();
    try {
      parseYaml(text, { maxBytes: 60_000_000, maxDepth: 64 });
    } catch (error) {
      if (!(error instanceof CrunchError)) throw error;
    }
    return performance.now() - start;
  }

  // Generous bounds, for slow machines: what they exclude took minutes or ended the process.
  it.each([
    ["a body of 5 MB", "body: |\n".concat("  words and words [[[[ of a body\n".repeat(150_000)), 2000],
    [
      "a map of 16,000 keys",
      Array.from({ length: 16_000 }, (_, index) => `key${index}: ${index}`).join("\n"),
      2000,
    ],
    [
      "a flow map of 16,000 keys",
      `{${Array.from({ length: 16_000 }, (_, index) => `key${index}: ${index}`).join(", ")}}`,
      2000,
    ],
    ["300,000 stray brackets", "]".repeat(300_000), 500],
    ["300,000 documents", "---\n".repeat(300_000), 500],
    ["a million errors in one block", `a: |\n  x\n${"\t\n".repeat(1_000_000)}`, 3000],
    ["50 MB of tiny items", `[${"0,".repeat(25_000_000)}0]`, 15_000],
  ])("stays small for %s", (_name, text, limit) => {
    expect(milliseconds(text)).toBeLessThan(limit);
  });
});
