import { z } from "zod";
import { didYouMean } from "./did-you-mean.js";
import { WorkflowPath } from "./fields.js";
import { describe } from "./plain-english.js";

const presetNames = ["crunch", "orchestrator", "dev-loop"] as const;

const wanted = (found: unknown) =>
  `expected ${presetNames.map((name) => JSON.stringify(name)).join(", ")}, the path of a .yml file, or a map, found ${describe(found)}.`;

const Preset = z
  .enum(presetNames)
  .transform((name) => ({ kind: "preset", name }) as const)
  .readonly();

/** Whatever else is text has to be the path of a file. */
const File = z
  .string()
  .regex(/\.ya?ml$/, {
    abort: true,
    error: ({ input }) => wanted(input) + didYouMean(String(input), presetNames),
  })
  .pipe(WorkflowPath)
  .transform((path) => ({ kind: "file", path }) as const)
  .readonly();

/** Which workflow a repo has: one that comes with Crunch, one of its files, or one written right there. */
export function workflowChoice<Output extends object>(inline: z.ZodType<Output>) {
  const Inline = inline.transform((workflow) => ({ kind: "inline", ...workflow }) as const);
  return z.union([Preset, File, Inline], { error: ({ input }) => wanted(input) });
}
