import { isCheckpointId } from "../checkpoint/id.js";

export type Words =
  | { readonly status: "ok"; readonly ids: readonly string[]; readonly flags: ReadonlySet<string> }
  | { readonly status: "unknown"; readonly problem: string };

/** Reads what follows a command's name: checkpoint ids and `--flags`, nothing else. */
export function readWords(
  rest: string,
  allowed: { readonly flags: readonly string[]; readonly ids: number },
): Words {
  const words = rest.split(/\s+/).filter((word) => word !== "");
  const flags = words.filter((word) => word.startsWith("--"));
  const ids = words.filter((word) => !word.startsWith("--"));
  const strange = flags.find((flag) => !allowed.flags.includes(flag));
  if (strange !== undefined) {
    const known = allowed.flags.length === 0 ? "it takes none" : `it takes ${allowed.flags.join(", ")}`;
    return { status: "unknown", problem: `there is no option \`${printable(strange)}\` here: ${known}` };
  }
  // An id becomes part of a path: what is not one goes no further.
  const wrong = ids.find((id) => id !== "latest" && !isCheckpointId(id));
  if (wrong !== undefined)
    return { status: "unknown", problem: `\`${printable(wrong)}\` is not a checkpoint id` };
  if (ids.length > allowed.ids) {
    return {
      status: "unknown",
      problem: `it takes at most ${allowed.ids} checkpoint ids, not ${ids.length}`,
    };
  }
  return { status: "ok", ids, flags: new Set(flags) };
}

/** A word of somebody's comment, harmless inside backticks. */
export function printable(word: string): string {
  return word.replace(/[^\w.-]/g, "?").slice(0, 60);
}
