import type { Workflow } from "../workflow.js";

/** The default workflow: enrich, ready, implementing, validation, docs, done. */
export function crunchWorkflow(options: { readonly approval: "none" | "required" }): Workflow {
  return {
    name: "crunch",
    first: "enrich",
    phases: {
      enrich: {
        kind: "agent",
        name: "enrich",
        next: "ready",
        does: "turns the issue into a specification",
      },
      ready: {
        kind: "human",
        name: "ready",
        next: "implementing",
        does: "waits for a person to approve the specification",
        skip: options.approval === "required" ? null : "no approval is required in this repo",
      },
      implementing: {
        kind: "agent",
        name: "implementing",
        next: "validation",
        does: "writes the code",
      },
      validation: { kind: "agent", name: "validation", next: "docs", does: "checks the result" },
      docs: { kind: "agent", name: "docs", next: "done", does: "writes the documentation" },
      done: { kind: "terminal", name: "done" },
    },
  };
}
