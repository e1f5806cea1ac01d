import { plain, shortened } from "../markdown.js";
import type { Gate } from "./gate.js";
import { beginsWith, notesStatus, sectionsOf } from "./notes-status.js";

/** Passes when the notes of every role have these sections, with something in each, and say that the step is done. */
export function notesGate(options: {
  readonly name: string;
  readonly phase: string;
  readonly roles: readonly string[];
  readonly sections: readonly string[];
  readonly step?: string | undefined;
}): Gate {
  return {
    name: options.name,
    type: "notes",
    phase: options.phase,
    timeoutMs: 0,
    async evaluate({ notes }) {
      const missing = options.roles.flatMap((role) => {
        const found = missingIn(notes.get(role) ?? "", options);
        return found.length === 0 ? [] : [`${role} ${found.join(", ")}`];
      });
      if (missing.length === 0) {
        const summary = `the notes of ${options.roles.join(", ")} are complete`;
        return { status: "passed", summary, details: `${plain(upperFirst(summary))}.` };
      }
      const list = missing.map((line) => `- ${plain(line)}`).join("\n");
      return {
        status: "failed",
        summary: missing.join("; "),
        details: `The notes are not complete:\n\n${list}\n\nAgents write them to \`$CRUNCH_NOTES\`. A heading with nothing but placeholders under it counts as missing.`,
      };
    },
  };
}

/** What notes lack, said of the one who wrote them. */
function missingIn(
  notes: string,
  { sections, step }: { readonly sections: readonly string[]; readonly step?: string | undefined },
): string[] {
  if (notes.trim() === "") return ["has no notes"];
  const found = sectionsOf(notes);
  const missing = sections.flatMap((wanted) => {
    const named = found.filter(({ title }) => beginsWith(title, wanted));
    if (named.length === 0) return [`has no section "${wanted}"`];
    return named.some(({ lines, hasCode }) => hasCode || lines.length > 0)
      ? []
      : [`has nothing under "${wanted}"`];
  });
  if (step === undefined) return missing;
  const { step: completed } = notesStatus(notes);
  if (completed === step.trim().toLowerCase()) return missing;
  const said = completed === null ? "" : `, but "${shortened(completed, 40)}"`;
  return [...missing, `does not say that the step "${step}" is completed${said}`];
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
