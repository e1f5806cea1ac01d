import { TypeError as CheckError, EvaluationError, ParseError } from "@marcbachmann/cel-js";

export const variableNames = ["state", "output", "issue", "phases"];

/** Why an expression can't be read or computed, in the words of people who don't know the library. */
export function reasonOf(error: unknown, of: { readonly text: string; readonly maxMs: number }): string {
  if (!(error instanceof ParseError || error instanceof CheckError || error instanceof EvaluationError)) {
    // An error of the virtual machine has an `Error` of its own.
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    return code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
      ? `it takes longer than ${of.maxMs} ms`
      : plain(String(message));
  }
  const { code, summary, node, range } = error;
  if (code === "no_such_key" && node) return `there is no \`${of.text.slice(node.start, node.end)}\``;
  if (code === "unknown_variable") return unknownVariable(summary.replace(/^.*: /, ""));
  if (/\bEOF$/.test(summary)) return "it ends too early";
  const place = error instanceof ParseError && range ? ` (character ${range.start + 1})` : "";
  return plain(summary) + place;
}

function unknownVariable(name: string): string {
  return variableNames.includes(name)
    ? `\`${name}\` has no value here`
    : `there is no variable \`${name}\`, only ${variableNames.join(", ")}. Text is written in quotes: '${name}'`;
}

function plain(summary: string): string {
  const text = summary
    .replaceAll(/dyn<(\w+)>/g, "$1")
    .replace(/^(?:found )?no (?:such|matching) overload(?: for|:) /, "nothing computes ");
  return text.slice(0, 1).toLowerCase() + text.slice(1).replace(/\.$/, "");
}
