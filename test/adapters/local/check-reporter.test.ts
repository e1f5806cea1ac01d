import { expect, it } from "vitest";
import { createLocalCheckReporter } from "../../../src/adapters/local/check-reporter.js";
import type { CheckRun } from "../../../src/ports.js";

const run = (externalId: string): CheckRun => ({
  ...{ name: "tests", externalId, conclusion: "success", title: "passed", summary: "12 passed" },
});

it("each result is handed over once a head, to be printed", async () => {
  const printed: string[] = [];
  const checks = createLocalCheckReporter(({ externalId }, head) => printed.push(`${head} ${externalId}`));
  expect(await checks.report("a", [run("1"), run("2")], { fresh: true })).toBe("reported");
  expect(await checks.report("a", [run("2"), run("3")], { fresh: false })).toBe("reported");
  await checks.report("b", [run("3")], { fresh: true });
  expect(printed).toEqual(["a 1", "a 2", "a 3", "b 3"]);
});
