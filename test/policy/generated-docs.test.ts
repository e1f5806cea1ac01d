import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createGate } from "../../src/gates/index.js";
import { notesStatus } from "../../src/gates/notes-status.js";
import { presets } from "../../src/workflow/presets/index.js";
import { regenerated } from "./generated-docs.js";

const read = () => readFileSync(new URL("../../docs/presets.md", import.meta.url), "utf8");

describe("docs/presets.md", () => {
  it("shows the presets as they are; `npm run docs` writes it anew", async () => {
    await expect(regenerated(read())).toMatchFileSnapshot("../../docs/presets.md");
  });

  it("has a picture and a table for every preset", () => {
    for (const name of Object.keys(presets))
      for (const what of ["picture", "phases"])
        expect(read()).toContain(`<!-- generated: ${what} ${name} -->\n`);
  });

  it("has a template of the notes that passes no check as it is, and all when it is filled in", async () => {
    const template = /^```markdown\n([\s\S]*?)^```$/m.exec(read())?.[1] ?? "";
    const filled = template
      .replaceAll(/<!--[\s\S]*?-->/g, "Something.")
      .replace("{implementation|review|reflection}", "reflection")
      .replace("{APPROVED|FINDINGS}", "APPROVED");
    expect(notesStatus(template)).toEqual({ step: null, verdict: null });
    expect(notesStatus(filled)).toEqual({ step: "reflection", verdict: "APPROVED" });
    const { phases } = presets["dev-loop"]({ approval: "none", projectType: null, include: [] });
    const gates = Object.values(phases).flatMap((phase) => ("gates" in phase ? (phase.gates ?? []) : []));
    expect(gates).toHaveLength(3);
    for (const gate of gates) {
      const verdictOn = (notes: string) =>
        createGate(gate, "any").evaluate({
          directory: "/nowhere",
          outputs: new Map(),
          notes: new Map(gate.roles.map((role) => [role, notes])),
          commands: { run: () => Promise.reject(new Error("no command is run here")) },
          signal: new AbortController().signal,
        });
      expect((await verdictOn(template)).status).toBe("failed");
      expect((await verdictOn(filled)).status).toBe("passed");
    }
  });
});
