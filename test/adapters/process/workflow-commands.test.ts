import { expect, it } from "vitest";
import { neutraliseWorkflowCommands } from "../../../src/adapters/process/workflow-commands.js";

it.each([
  ["::set-output name=a::b", ": :set-output name=a::b"],
  ["x\n::add-mask::y", "x\n: :add-mask::y"],
  ["x\r::warning::y", "x\r: :warning::y"],
  [" \t::stop-commands::y", " \t: :stop-commands::y"],
  ["##[error]x", "# #[error]x"],
  ["x ##[set-env name=A]b", "x # #[set-env name=A]b"],
  ["a::b std::vector ## [x]", "a::b std::vector ## [x]"],
])("%j becomes %j", (input, expected) => {
  expect(neutraliseWorkflowCommands(input)).toBe(expected);
});

it("takes linear time", () => {
  const startedAt = performance.now();
  for (const unit of [" ", "\n", "\u2028", ":", "#"]) neutraliseWorkflowCommands(unit.repeat(1_000_000));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
