import { createWorkflow, type Workflow } from "../workflow.js";

/** The default workflow: enrich, ready, implementing, validation, docs, done. */
export function crunchWorkflow(options: { readonly approval: "none" | "required" }): Workflow {
  const isAsked = options.approval === "required";
  return createWorkflow({
    name: "crunch",
    first: "enrich",
    phases: {
      enrich: { type: "agent", does: "turns the issue into a specification", next: ["ready"] },
      ready: {
        type: "human",
        does: "waits for a person to approve the specification",
        ...(isAsked ? {} : { skip: "no approval is required in this repo" }),
        ask: { type: "approval", prompt: "Is the specification right?" },
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
  });
}
