import { describe, expect } from "vitest";
import { begin, codeBranch, expectDone, latestOf, newest, startAgain, stopBot } from "./going-back.js";
import { scenario } from "./world.js";

const litter = `import { writeFileSync } from "node:fs";
writeFileSync("coverage.txt", "of a gate");
writeFileSync("README.md", "rewritten by a gate");
`;

describe.concurrent("what gates and processes leave behind", () => {
  scenario(
    "of a gate is neither the next agent's doing nor in its way",
    {
      files: { "check.mjs": litter, "README.md": "# Durations\n" },
      agent: `
        const { rmSync } = await import("node:fs");
        if (phase === "validation") { saw([textOf("coverage.txt"), textOf("README.md")]); rmSync("coverage.txt", { force: true }); }`,
    },
    async (world) => {
      const issue = await begin(world);
      await expectDone(world, issue);
      expect(world.saw).toEqual([[null, "# Durations\n"]]);
      const branch = await codeBranch(world);
      expect(await world.fileAt("coverage.txt", branch)).toBe(null);
      expect(await world.fileAt("README.md", branch)).toBe("# Durations\n");
    },
  );

  scenario(
    "a judged file that changes while the gates run fails the phase, and nothing of it is published",
    {
      files: { "check.mjs": `import { writeFileSync } from "node:fs"; writeFileSync("work.txt", "other");` },
    },
    async (world) => {
      const issue = await begin(world);
      const latest = latestOf(await world.chainOf(issue));
      expect(latest.error).toMatchObject({
        code: "changed_while_gated",
        message: expect.stringContaining("`work.txt`"),
      });
      expect(latest.issue_snapshot.head_sha).toBe(null);
      expect(await world.sticky(issue)).toContain("changed while the gates ran");
      expect(await world.pulls()).toEqual([]);
    },
  );

  scenario(
    "a link of an agent that was done when the bot was stopped is published by the next one",
    {
      files: {
        "check.mjs": `import { existsSync, readFileSync, writeFileSync } from "node:fs";
          const dir = readFileSync("work.txt", "utf8");
          writeFileSync(dir + "/at-gate-" + process.pid, "");
          while (existsSync(dir + "/hold-gate")) await new Promise((resolve) => setTimeout(resolve, 20));`,
      },
      agent: `work.implementing = () => { write("work.txt", dir); symlinkSync("work.txt", "link"); };`,
    },
    async (world) => {
      world.hold("gate");
      const issue = await world.openIssue(["state:enrich"]);
      await world.gatesBegun(1);
      await stopBot(world);
      const stopped = newest(await world.chainOf(issue), "implementing", "user_interrupt");
      expect(stopped.partial_work.map(({ path, mode }) => `${mode} ${path}`).sort()).toEqual([
        "100644 work.txt",
        "120000 link",
      ]);
      world.release("gate");
      await startAgain(world);
      await expectDone(world, issue);
      expect(world.phasesRun().filter((phase) => phase === "implementing")).toHaveLength(1);
      expect(await world.filesAt(await codeBranch(world))).toContain("link");
    },
  );
});
