import { z } from "zod";
import { didYouMean } from "./did-you-mean.js";
import { describe } from "./plain-english.js";

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
type Unit = keyof typeof unitMs;

export const defaultTimeoutMs = 30 * 60_000;

/** `30s`, `10m`, `2h` or a number of seconds; milliseconds inside. Jobs end after 6 h, so 5 h at most. */
export const Duration = durationOf({ units: ["s", "m", "h"], most: [5, "h"], such: "30s, 10m or 2h" });

/** For what no job has to sit through, such as the wait for a person. */
export const LongDuration = durationOf({
  units: ["s", "m", "h", "d"],
  most: [90, "d"],
  such: "30s, 10m, 2h or 3d",
});

function durationOf(options: {
  readonly units: readonly Unit[];
  readonly most: readonly [number, Unit];
  readonly such: string;
}) {
  const { units, most, such } = options;
  const text = new RegExp(`^(\\d{1,9})\\s*([${units.join("")}])$`);
  const msOf = (value: unknown): number | null => {
    if (typeof value === "number") return Number.isFinite(value) ? Math.round(value * 1000) : null;
    const match = typeof value === "string" ? text.exec(value.trim()) : null;
    return match === null ? null : Number(match[1]) * unitMs[match[2] as Unit];
  };
  return z
    .unknown()
    .transform((value, context) => {
      const ms = msOf(value);
      if (ms !== null && ms > 0 && ms <= most[0] * unitMs[most[1]]) return ms;
      const wanted = ms === null ? `such as ${such}` : `between 1s and ${most.join("")}`;
      context.addIssue({
        code: "custom",
        message: `expected a duration ${wanted}, found ${describe(value)}.`,
      });
      return z.NEVER;
    })
    .meta({
      anyOf: [
        { type: "string", pattern: text.source },
        { type: "number", exclusiveMinimum: 0 },
      ],
    });
}

const Word = z.string().refine((text) => !text.includes("\0"), "a word of a command must not contain NUL.");

/** A list of words, never a string: nothing here goes through a shell. */
export const Command = z
  .array(Word, {
    error: ({ input }) =>
      typeof input === "string"
        ? `expected a list of words, found the text ${JSON.stringify(input)}. Write it as a list: ${listForm(input)}`
        : undefined,
  })
  .min(1)
  .refine((words) => words[0] !== "", "the first word of a command names the program and must not be empty.")
  .readonly();

function listForm(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== "");
  return `[${words.map((word) => (/^[A-Za-z][\w./-]*$/.test(word) ? word : JSON.stringify(word))).join(", ")}]`;
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const variableMessage = "expected the name of a variable: letters, digits and underscores.";
export const VariableName = z.string().regex(variableName, variableMessage);

/** Agents hold no GitHub token (law 6), nor the secrets of the bot itself. */
const refusedVariable =
  /^(?:(?:GITHUB|GH)_(?:.*_)?(?:TOKEN|PAT|KEY)|ACTIONS_.*|INPUT_.*|PRIVATE_KEY(?:_PATH)?|WEBHOOK_SECRET)$/i;

export const PassedVariable = VariableName.refine((name) => !refusedVariable.test(name), {
  error: ({ input }) =>
    `${String(input)} is not handed to agents: they hold no GitHub token. Crunch publishes their files itself.`,
});

export const Glob = z
  .string()
  .min(1)
  .max(500)
  .refine(isInside, "expected a path inside the repository: no leading /, no .. and no backslash.");

/** A file of the issue's folder. */
export const OutputPath = z
  .string()
  .min(1)
  .max(500)
  .refine(
    (path) => isInside(path) && !path.endsWith("/") && !path.split("/").includes("."),
    "expected a path inside the issue's folder, such as spec.md: no leading /, no .. and no backslash.",
  );

function isInside(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\\\u0000-\u001f]/.test(path) || /^(?:\/|[A-Za-z]:)/.test(path)) return false;
  return path
    .split("/")
    .every((part, index, parts) => part !== ".." && (part !== "" || index === parts.length - 1));
}

/** Where the repo has a workflow. It becomes one of the protected paths, which are globs, so it has no `*` and the like. */
export const WorkflowPath = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/,
    "expected a path inside the repository of letters, digits, dots, - and _, such as .github/flow.yml.",
  )
  .refine(
    (path) => !path.split("/").some((part) => part === "." || part === ".."),
    "expected a path inside the repository: no . and no .. in it.",
  );

/** A template of a branch's name. `{issue}` is the issue's number, `{slug}` is made from its title. */
export const BranchTemplate = z
  .string()
  .max(150)
  .superRefine((template, context) => {
    const known = ["issue", "slug"];
    for (const [, name = ""] of template.matchAll(/\{([^{}]*)\}/g)) {
      if (known.includes(name)) continue;
      const hint = didYouMean(name, known).replaceAll('"', "");
      context.addIssue({
        code: "custom",
        message: `expected {issue} or {slug} in braces, found {${name}}.${hint}`,
      });
      return;
    }
    if (!isBranchName(template.replaceAll("{issue}", "1").replaceAll("{slug}", "slug"))) {
      context.addIssue({
        code: "custom",
        message: `expected the name of a git branch, found ${describe(template)}.`,
      });
    }
  });

/** The rules of git check-ref-format. */
function isBranchName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses control characters
  if (name === "" || name === "@" || /[\u0000- \u007f~^:?*[\\{}]|\.\.|@\{/.test(name)) return false;
  return name
    .split("/")
    .every((part) => part !== "" && !/^[.-]/.test(part) && !part.endsWith(".") && !part.endsWith(".lock"));
}
