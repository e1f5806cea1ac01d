import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** In a process of its own, because what goes wrong here ends the process. */
describe("a process that reads hostile YAML", () => {
  const root = resolve(import.meta.dirname, "../..");
  let folder = "";

  beforeAll(() => {
    // Inside node_modules, so that the compiled files find their dependencies.
    mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
    folder = mkdtempSync(join(root, "node_modules/.cache/hostile-yaml-"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    execFileSync(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      ...[
        "--ignoreConfig",
        "--module",
        "nodenext",
        "--target",
        "es2023",
        "--types",
        "node",
        "--skipLibCheck",
      ],
      ...[
        "--strict",
        "--rootDir",
        join(root, "src"),
        "--outDir",
        folder,
        join(root, "src/yaml/parse-yaml.ts"),
      ],
    ]);
    writeFileSync(
      join(folder, "read.mjs"),
      `import { parseYaml } from "./yaml/parse-yaml.js";
       const inputs = {
         "flow lists": "[".repeat(100_000),
         "closed flow lists": "[".repeat(100_000) + "]".repeat(100_000),
         "flow maps": "{a: ".repeat(100_000),
         "flow keys": "{? ".repeat(100_000),
         "mixed flow": "[{a: ".repeat(50_000),
         "compact lists": "- ".repeat(100_000),
         "compact keys": "? ".repeat(100_000),
         "compact values": ": ".repeat(100_000),
         "chained values": "a: ".repeat(100_000),
         "block maps": Array.from({ length: 5_000 }, (_, depth) => " ".repeat(depth) + "a:").join("\\n"),
         "block lists": Array.from({ length: 5_000 }, (_, depth) => " ".repeat(depth) + "-").join("\\n"),
         "50 MB": "a: " + "x".repeat(50 * 1024 * 1024),
         "alias bomb": "a: &a [x,x]\\n" + "bcdefghi".replace(/./g, (c) => c + ": &" + c + " [*a,*a,*a]\\n"),
       };
       const results = {};
       for (const [name, text] of Object.entries(inputs)) {
         try {
           parseYaml(text, { maxBytes: 50 * 1024 * 1024, maxDepth: 64 });
           results[name] = "parsed";
         } catch (error) {
           results[name] = error.code;
         }
       }
       console.log(JSON.stringify(results));`,
    );
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("survives, and refuses each input for its own reason", () => {
    const start = performance.now();
    const child = spawnSync(process.execPath, [join(folder, "read.mjs")], { encoding: "utf8" });
    expect(child.signal).toBeNull();
    expect(child.status).toBe(0);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(JSON.parse(child.stdout)).toEqual({
      "flow lists": "yaml_too_deep",
      "closed flow lists": "yaml_too_deep",
      "flow maps": "yaml_too_deep",
      "flow keys": "yaml_too_deep",
      "mixed flow": "yaml_too_deep",
      "compact lists": "yaml_too_deep",
      "compact keys": "yaml_too_deep",
      "compact values": "yaml_too_deep",
      "chained values": "yaml_too_deep",
      "block maps": "yaml_too_deep",
      "block lists": "yaml_too_deep",
      "50 MB": "yaml_too_large",
      "alias bomb": "yaml_alias",
    });
  });
});
