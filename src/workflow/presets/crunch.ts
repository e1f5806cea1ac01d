import type { WorkflowShape } from "../shape.js";
import { type PresetOptions, refuseVariants } from "./preset-options.js";

/** The default: from an issue to code, tests and documentation, in a line. */
export function crunch(options: PresetOptions): WorkflowShape {
  refuseVariants("crunch", options);
  return {
    name: "crunch",
    first: "enrich",
    phases: {
      enrich: { type: "agent", does: "turns the issue into a specification", next: ["ready"] },
      ready: {
        type: "human",
        does: "waits for a person to approve the specification",
        ask: { type: "approval", prompt: "Is the specification right?" },
        ...(options.approval === "none" && { skip: "no approval is required in this repo" }),
        next: ["implementing"],
      },
      implementing: { type: "agent", does: "writes the code", next: ["validation"] },
      validation: { type: "agent", does: "checks the result", next: ["docs"] },
      docs: { type: "agent", does: "writes the documentation", next: ["done"] },
      done: { type: "terminal" },
    },
    initial: {},
    maxVisits: 100,
    snapshotEvery: 1_000,
  };
}
