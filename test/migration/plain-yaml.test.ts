import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { importFiles } from "../../src/migration/import-files.js";
import { aMaker } from "../builders.js";
import { anS3File, aPlainFolder, filesOf, sha256 } from "./samples.js";

const importing = (entries: Record<string, unknown>, issue = 42) =>
  importFiles(filesOf(entries), { issue, maker: aMaker() });
const [first, second] = ["CP-enrich-20250114-a3f2", "CP-implementing-20250114-b4c5"];

describe("a folder of the plain layout's checkpoints", () => {
  it("becomes a chain, with the reasons that its index tells", () => {
    const { checkpoints, problems } = importing(aPlainFolder());
    expect(problems).toEqual([]);
    expect(checkpoints).toMatchObject([
      {
        ...{ checkpoint_id: first, parent_checkpoint_id: null, sequence: 1, version: "1.1" },
        ...{ trigger: "phase_transition", type: "POST", outcome: "succeeded" },
        orchestrator_state: { completed_phases: ["enrich"] },
      },
      {
        ...{ checkpoint_id: second, parent_checkpoint_id: first, sequence: 2 },
        ...{ trigger: "user_interrupt", type: "PRE", outcome: "interrupted" },
        metadata: {
          upgraded_from: "1.0",
          imported_from: { layout: "s3", file: `checkpoints/${second}.yaml`, id: second, issue: 42 },
        },
      },
    ]);
  });

  it("brings what its agents wrote, where it is there", () => {
    const { checkpoints, files } = importing(aPlainFolder());
    expect(checkpoints[0]?.artifacts).toEqual({
      "spec.md": { path: "spec.md", hash: sha256("# Spec\n"), size_bytes: 7 },
    });
    expect(files.get(first)?.map(({ path }) => path)).toEqual(["spec.md", `artifacts/${sha256("# Spec\n")}`]);
  });

  it("is found wherever it lies", () => {
    const moved = Object.entries(aPlainFolder()).map(([path, value]) => [`.claude/crunch/42/${path}`, value]);
    expect(importing(Object.fromEntries(moved)).checkpoints).toEqual(
      importing(aPlainFolder()).checkpoints.map((one, at) => ({
        ...one,
        metadata: {
          ...one.metadata,
          imported_from: {
            ...{ layout: "s3", issue: 42, id: at === 0 ? first : second },
            file: `.claude/crunch/42/checkpoints/${at === 0 ? first : second}.yaml`,
          },
        },
      })),
    );
  });

  it("may hold files with a hash, which must be right", () => {
    const text = anS3File();
    const signed = `${text}content_sha256: ${createHash("sha256").update(text).digest("hex")}\n`;
    const path = `checkpoints/${second}.yaml`;
    expect(importing({ ...aPlainFolder(), [path]: signed }).problems).toEqual([]);
    const { problems } = importing({ ...aPlainFolder(), [path]: signed.replace("mona", "mono") });
    expect(problems.join("\n")).toContain("does not match its hash");
  });

  it("ends with `latest`, even if another one is newer", () => {
    const { checkpoints, problems } = importing({ ...aPlainFolder(), "checkpoints/latest": `${first}.yaml` });
    expect(checkpoints.at(-1)?.checkpoint_id).toBe(first);
    expect(problems).toHaveLength(2);
  });

  it("gets new ids for those that are not in our form, or are there twice", () => {
    const other = anS3File({ [second]: "CP-implementing-20250114T103000-b4c5" });
    const { checkpoints, problems } = importing({
      ...aPlainFolder(),
      "checkpoints/CP-implementing-20250114T103000-b4c5.yaml": other,
      "checkpoints/CP-copy-20250114-b4c5.yaml": anS3File(),
    });
    const ids = checkpoints.map(({ checkpoint_id }) => checkpoint_id);
    expect(new Set(ids).size).toBe(4);
    expect(problems.join("\n")).toContain("has an id that another file has too");
    const origins = checkpoints.map(({ metadata }) => (metadata.imported_from as { id: string }).id);
    expect(origins).toContain("CP-implementing-20250114T103000-b4c5");
  });

  it("counts the versions of a phase that ended more than once", () => {
    const again = "CP-enrich-20250114-c0de";
    const text = anS3File({ [second]: again, "current_phase: implementing": "current_phase: enrich" });
    const index = String(aPlainFolder()["checkpoints/index.yaml"]).replace(
      "latest:",
      `  - { checkpoint_id: ${again}, created_at: "2025-01-14T10:30:00Z", trigger: phase_transition, phase: enrich, can_resume: true }\nlatest:`,
    );
    const { checkpoints } = importing({
      ...{ ...aPlainFolder(), "checkpoints/index.yaml": index, [`checkpoints/${again}.yaml`]: text },
    });
    const ended = checkpoints.filter(({ trigger }) => trigger === "phase_transition");
    expect(ended.map(({ phase_version }) => phase_version)).toEqual([1, 2]);
  });

  it.each<[string, (folder: Record<string, unknown>) => Record<string, unknown>, string]>([
    [
      "without an index",
      ({ "checkpoints/index.yaml": _, ...rest }) => rest,
      "is missing: why each checkpoint",
    ],
    ["with an index that is broken", (all) => ({ ...all, "checkpoints/index.yaml": "[" }), "was left out"],
    [
      "with a checkpoint that is gone",
      ({ [`checkpoints/${first}.yaml`]: _, ...rest }) => rest,
      `the index lists "${first}", which is not there`,
    ],
    [
      "with one that the index does not know",
      (all) => ({
        ...all,
        "checkpoints/CP-docs-20250114-0001.yaml": anS3File({ [second]: "CP-docs-20250114-0001" }),
      }),
      "is not in the index",
    ],
    [
      "with a file that is no YAML",
      (all) => ({ ...all, [`checkpoints/${first}.yaml`]: "[[[" }),
      "was left out",
    ],
    ["with a stranger", (all) => ({ ...all, "checkpoints/notes.txt": "x" }), "no part of the layout"],
    [
      "with a later version",
      (all) => ({ ...all, [`checkpoints/${first}.yaml`]: anS3File({ 'version: "1.0"': 'version: "3.0"' }) }),
      'has version "3.0"',
    ],
    [
      "with an alias",
      (all) => ({ ...all, [`checkpoints/${first}.yaml`]: `x: &x [1]\ny: *x\n${anS3File()}` }),
      "anchors (&name) are not allowed",
    ],
  ])("%s is imported as far as it goes, and that is reported", (_name, change, problem) => {
    const { checkpoints, problems } = importing(change(aPlainFolder()));
    expect(checkpoints.length).toBeGreaterThan(0);
    expect(problems.join("\n")).toContain(problem);
  });

  it("of another issue says so", () => {
    const { checkpoints, problems } = importing(aPlainFolder(), 7);
    expect(checkpoints.map(({ issue_number }) => issue_number)).toEqual([7, 7]);
    expect(problems[0]).toContain("is of issue 42, and now of issue 7");
  });
});
