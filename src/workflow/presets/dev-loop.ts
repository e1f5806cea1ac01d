import type { TaskShape, WorkflowShape } from "../shape.js";
import { type PresetOptions, presetError, refuseVariants } from "./preset-options.js";

const reviewers = ["security", "test", "code-reviewer"] as const;
const everybody = ["implementer", ...reviewers] as const;

/** Specialists who keep notes: one builds, three review until they find nothing, and all look back on it. */
export function devLoop(options: PresetOptions): WorkflowShape {
  refuseVariants("dev-loop", options);
  if (options.approval === "required")
    throw presetError(
      'The workflow "dev-loop" asks nobody, so an approval can\'t be required.',
      "Set `approval: none`, or use the workflow `crunch` or `orchestrator`.",
    );
  return {
    name: "dev-loop",
    first: "implementation",
    phases: {
      implementation: {
        type: "agent",
        role: "implementer",
        does: "builds it, or puts right what the reviewers found",
        gates: [
          {
            type: "notes",
            name: "implementation notes",
            roles: ["implementer"],
            sections: ["Patterns Discovered", "Gotchas Encountered"],
          },
        ],
        update: { findings: "false" },
        next: ["validation"],
      },
      // It needs no notes; a role of its own keeps it out of those of the others.
      validation: { type: "agent", role: "validation", does: "checks that it works", next: ["code-review"] },
      "code-review": {
        type: "tasks",
        does: "reviews the change from three sides",
        tasks: tasksOf(reviewers, {
          security: "looks for ways to misuse it",
          test: "looks for what the tests don't show",
          "code-reviewer": "looks for what is hard to understand or to change",
        }),
        gates: [{ type: "notes", name: "review notes", roles: reviewers, sections: ["Observations"] }],
        update: { findings: "state.findings || output.verdict == 'FINDINGS'" },
        next: {
          choices: [
            { if: "state.findings", to: ["implementation"] },
            { if: null, to: ["reflection"] },
          ],
        },
      },
      reflection: {
        type: "tasks",
        does: "each tells what is worth keeping, from the notes made on the way",
        tasks: tasksOf(everybody, {
          implementer: "looks back on building it",
          security: "looks back on the review of its security",
          test: "looks back on the review of its tests",
          "code-reviewer": "looks back on the review of its code",
        }),
        gates: [
          { type: "notes", name: "reflection notes", roles: everybody, sections: [], step: "reflection" },
        ],
        next: ["complete"],
      },
      complete: { type: "terminal" },
    },
    initial: { findings: false },
    // How often the reviewers may send it back.
    maxVisits: 10,
    snapshotEvery: 1_000,
  };
}

/** A task for each role, which goes on with the notes of that role; none waits for another. */
function tasksOf<Role extends string>(
  roles: readonly Role[],
  does: Readonly<Record<Role, string>>,
): Readonly<Record<string, TaskShape>> {
  return Object.fromEntries(roles.map((role) => [role, { does: does[role], role }]));
}
