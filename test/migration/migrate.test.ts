import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/adapters/memory/checkpoint-store.js";
import { migrate } from "../../src/entry/migrate.js";
import { aPlainFolder, filesOf } from "./samples.js";

describe("crunch migrate", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "crunch-migrate-"));
    for (const [path, bytes] of filesOf(aPlainFolder())) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      if (path.endsWith("latest")) symlinkSync(bytes.toString(), join(folder, path));
      else writeFileSync(join(folder, path), bytes);
    }
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function migrated(changes: { dryRun?: boolean; folder?: string } = {}) {
    const lines: string[] = [];
    const store = createMemoryStore();
    const print = (line: string) => lines.push(line);
    const options = { print, dryRun: changes.dryRun ?? false };
    const code = await migrate(changes.folder ?? folder, { store, issue: 42 }, options);
    return { code, lines, stored: await store.list(42), store };
  }

  it("stores the folder's checkpoints and prints what it stored", async () => {
    const { code, lines, stored, store } = await migrated();
    expect(code).toBe(0);
    expect(stored).toHaveLength(2);
    expect(lines).toEqual([
      "2025-01-14T09:50:00Z  CP-enrich-20250114-a3f2  enrich: phase_transition",
      "2025-01-14T10:30:00Z  CP-implementing-20250114-b4c5  implementing: user_interrupt",
      "2 checkpoints imported into issue 42, no problems",
    ]);
    expect((await store.readFile(42, "spec.md"))?.toString()).toBe("# Spec\n");
  });

  it("prints every problem, and exits with 1", async () => {
    writeFileSync(join(folder, "checkpoints/CP-bad-20250114-0000.yaml"), "[");
    const { code, lines, stored } = await migrated();
    expect(code).toBe(1);
    expect(stored).toHaveLength(2);
    expect(lines[0]).toMatch(/^problem: "checkpoints\/CP-bad-20250114-0000\.yaml" was left out: /);
    expect(lines.at(-1)).toBe("2 checkpoints imported into issue 42, 1 problem");
  });

  it("stores nothing when it is only to tell", async () => {
    const { lines, stored } = await migrated({ dryRun: true });
    expect(stored).toEqual([]);
    expect(lines.at(-1)).toBe("2 checkpoints would be imported into issue 42, no problems");
  });

  it("does not follow links out of the folder", async () => {
    symlinkSync("/etc/passwd", join(folder, "checkpoints/CP-link-20250114-0000.yaml"));
    const { lines } = await migrated();
    expect(lines[0]).toContain("CP-link-20250114-0000.yaml");
    expect(lines.join("\n")).not.toContain("root:");
  });

  it("says when there is no such folder", async () => {
    const missing = migrated({ folder: join(folder, "nowhere") });
    await expect(missing).rejects.toMatchObject({ name: "CrunchError", code: "folder_unreadable" });
  });
});
