import { z } from "zod";

/**
 * A path inside the repo or the folder. A checkpoint can be forged by whoever may push, so what becomes part
 * of a path on disk is checked here, once for all who use it.
 */
export const RepoPath = z
  .string()
  .max(4096)
  .refine(
    isInside,
    "a path that stays inside: no leading /, no .., no .git, no backslash, no control characters",
  );

function isInside(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return false;
  return path.split("/").every((part) => !["", ".", ".."].includes(part) && part.toLowerCase() !== ".git");
}

/** A branch, as far as it matters that it is no path to elsewhere. */
export const BranchName = z.string().max(250).refine(isInside, "the name of a branch");
