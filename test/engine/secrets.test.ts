import { describe, expect, it } from "vitest";
import { secretInCode, withoutSecrets } from "../../src/engine/secrets.js";
import type { FileChange, Workspace } from "../../src/ports.js";
import { createRedactor, secretsIn } from "../../src/redact.js";
import { aFile } from "../builders.js";

const secret = "correct-horse-battery-9";
const redact = createRedactor([secret]);

function workspaceWith(before: Readonly<Record<string, string>>): Workspace {
  const contentBefore = async (path: string) => (path in before ? Buffer.from(before[path] ?? "") : null);
  return { contentBefore } as unknown as Workspace;
}

const found = (files: readonly FileChange[], before: Readonly<Record<string, string>> = {}) =>
  secretInCode(files, workspaceWith(before), redact);
const written = (path: string, content: string | Buffer) => aFile(path, { content: Buffer.from(content) });

describe("code that an agent wrote", () => {
  it("is fine without a secret", async () => {
    expect(await found([written("a.js", "export const answer = 42;\n")])).toBeNull();
  });

  it("is told by line when it holds one", async () => {
    const file = written("a.js", `// a\nconst key = "${secret}";\n`);
    expect(await found([file])).toEqual({ path: "a.js", line: 2 });
  });

  it("may keep what looks like one and was there before", async () => {
    const pem = 'const isPem = (s) => s.startsWith("-----BEGIN PRIVATE KEY-----");\n';
    expect(await found([written("a.js", `${pem}export const b = 1;\n`)], { "a.js": pem })).toBeNull();
  });

  it("is searched also where it is binary, encoded or named after it", async () => {
    const binary = Buffer.concat([Buffer.from([0, 1]), Buffer.from(secret)]);
    expect(await found([written("a.bin", binary)])).toMatchObject({ path: "a.bin" });
    const encoded = Buffer.from(secret).toString("base64");
    expect(await found([written("a.txt", encoded)])).toMatchObject({ path: "a.txt", line: 1 });
    const named = await found([written(`${secret}.txt`, "x")]);
    expect(named?.path).not.toContain(secret);
  });
});

describe("an output of an agent", () => {
  it("is kept with its secrets blacked out", () => {
    const clean = withoutSecrets(written("spec.md", `Use ${secret} here.\n`), redact);
    expect(clean?.content?.toString()).toBe("Use [redacted] here.\n");
  });

  it("is left out when it is binary, or named after one", () => {
    expect(withoutSecrets(written("a.bin", Buffer.from(`\0${secret}`)), redact)).toBeNull();
    expect(withoutSecrets(written(`${secret}.md`, "x"), redact)).toBeNull();
  });
});

describe("the secrets of an environment", () => {
  it.each([
    "OPENAI_KEY",
    "GH_PAT",
    "DB_PASS",
    "SENTRY_DSN",
    "API_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "BASIC_AUTH",
  ])("are known by the name %s", (name) =>
    expect(secretsIn({ [name]: "a1b2c3d4e5" })).toEqual(["a1b2c3d4e5"]),
  );

  it("are also addresses with a password", () => {
    const url = "postgres://app:s3cr3tpass@db/prod";
    expect(secretsIn({ DATABASE_URL: url, HOMEPAGE: "https://example.test/" })).toEqual([url]);
  });

  it("are not settings that are words or numbers", () => {
    expect(secretsIn({ FEATURE_TOKEN: "disabled", TOKEN_LIMIT: "100000000" })).toEqual([]);
  });
});
