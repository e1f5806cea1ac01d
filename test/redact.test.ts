import { describe, expect, it } from "vitest";
import { createRedactor } from "../src/redact.js";

const SECRET = "k7Qp+Zt/9xVb=2mNw4LrYcHd8sJf0aGe";
const redact = createRedactor([SECRET]);
const base64 = (text: string) => Buffer.from(text).toString("base64");
const base64url = (text: string) => Buffer.from(text).toString("base64url");

describe("a known secret", () => {
  it.each([
    ["plain", `a ${SECRET} b`, "a [redacted] b"],
    ["twice", `${SECRET} ${SECRET}`, "[redacted] [redacted]"],
    ["base64", `a ${base64(SECRET)} b`, "a [redacted] b"],
    ["base64, 1 byte before", `a ${base64(`x${SECRET}`)} b`, "a [redacted] b"],
    ["base64, 2 bytes before", `a ${base64(`xy${SECRET}`)} b`, "a [redacted] b"],
    ["base64 of a header", `a ${base64(`x-access-token:${SECRET}\n`)} b`, "a [redacted] b"],
    ["base64url", `a ${base64url(`xy${SECRET}`)} b`, "a [redacted] b"],
    ["hex", `a ${Buffer.from(SECRET).toString("hex")} b`, "a [redacted] b"],
    ["upper-case hex", `a ${Buffer.from(SECRET).toString("hex").toUpperCase()} b`, "a [redacted] b"],
    ["URL-encoded", `a ${encodeURIComponent(SECRET)} b`, "a [redacted] b"],
    [
      "URL-encoded in lower case",
      `a ${encodeURIComponent(SECRET).replace(/%../g, (c) => c.toLowerCase())} b`,
      "a [redacted] b",
    ],
    ["one character cut", `a ${SECRET.slice(1)} b`, "a [redacted] b"],
    ["six characters cut", `a ${SECRET.slice(6)} b`, "a [redacted] b"],
    ["six characters cut, in base64", `a ${base64(SECRET.slice(6))} b`, "a [redacted] b"],
    ["its end cut", `a ${SECRET.slice(0, -6)} b`, "a [redacted] b"],
    ["split over two lines", `a ${SECRET.slice(0, 9)}\n${SECRET.slice(9)} b`, "a [redacted] b"],
    ["a character a line", `a ${SECRET.split("").join("\r\n")} b`, "a [redacted] b"],
    ["spaces between", `a ${SECRET.split("").join(" ")} b`, "a [redacted] b"],
    ["ANSI codes between", `a ${SECRET.split("").join("\u001b[31m")} b`, "a [redacted] b"],
    ["base64 wrapped", `a ${base64(SECRET).replace(/.{10}/g, "$&\n")} b`, "a [redacted] b"],
  ])("is replaced: %s", (_, input, expected) => {
    expect(redact(input)).toBe(expected);
  });

  it("is replaced line by line when it is a key of several lines, wherever it is torn", () => {
    const body = [..."abcdefgh"].map((letter) => Buffer.from(letter.repeat(7) + SECRET).toString("base64"));
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${body.join("\n")}\n-----END RSA PRIVATE KEY-----\n`;
    const ofKey = createRedactor([key]);
    for (const line of body) expect(ofKey(`x ${line} y`)).toBe("x [redacted] y");
    expect(ofKey(key)).toBe("[redacted]\n");
    expect(ofKey(`a ${base64(key)} b`)).toBe("a [redacted] b");
  });

  it("of fewer than 8 characters is left alone, for it may be a word", () => {
    expect(createRedactor(["secret", ""])("a secret word")).toBe("a secret word");
  });
});

describe("what looks like a token", () => {
  const letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5";
  it.each([
    ...["ghp", "gho", "ghu", "ghs", "ghr"].map((kind) => `${kind}_${letters}`),
    `github_pat_${letters}_${letters}`,
    `sk-ant-api03-${letters}`,
    `sk-${letters}`,
    `sk-proj-${letters}`,
    "xoxb-123456789012-abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    `eyJhbGciOiJIUzI1NiJ9.${letters}.${letters}`,
    `-----BEGIN PRIVATE KEY-----\n${letters}\n-----END PRIVATE KEY-----`,
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${letters}\n`,
  ])("%s is replaced", (token) => {
    expect(createRedactor([])(`a "${token}`)).toBe('a "[redacted]');
  });
});

describe("ordinary text", () => {
  const prose = `# Plan\n\nThe risk-assessment-of-everything page and sk-folding-cube-wrapper-element stay; so does
ghp_ as a word, github_pat_ too, an eyJ alone, a SHA 3f786850e387550fdab836ed7e6dc881de23001b, a path
src/adapters/github/events.ts, key: "value", 100 % and \u001b[32mgreen\u001b[0m text.\n`;

  it("is unchanged", () => {
    expect(redact(prose)).toBe(prose);
    expect(createRedactor([])(prose)).toBe(prose);
  });

  it.each([
    ["prose", prose.repeat(4_000)],
    ["one long run", "a".repeat(1_000_000)],
    ["blanks", " \n".repeat(500_000)],
    ["begins without an end", "-----BEGIN PRIVATE KEY-----x".repeat(36_000)],
    ["half tokens", "eyJeyJ-sk-ghp_xox.".repeat(55_000)],
    ["escapes", "\u001b[".repeat(500_000)],
    ["the secret over and over", `${base64(SECRET)}\n`.repeat(22_000)],
  ])("of 1 MB takes well under a second: %s", (_, text) => {
    const many = createRedactor([
      SECRET,
      ...Array.from({ length: 9 }, (_, i) => `${i}${SECRET.slice(1)}${i}`),
    ]);
    const startedAt = performance.now();
    many(text);
    const took = performance.now() - startedAt;
    if (process.env.SHOW_TIMES) console.log(Math.round(took), "ms", text.length);
    expect(took).toBeLessThan(1_000);
  });
});
