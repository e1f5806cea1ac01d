import type { PhaseGraph } from "./graph.js";
import type { NextShape, PhaseShape, WorkflowShape } from "./shape.js";

/** Where the phases of a shape lead. */
export function graphOfShape({ first, phases }: Pick<WorkflowShape, "first" | "phases">): PhaseGraph {
  const nodes = Object.entries(phases).map(([name, phase]) => [name, nodeOf(phase)] as const);
  return { first, nodes: Object.fromEntries(nodes) };
}

function nodeOf(phase: PhaseShape): PhaseGraph["nodes"][string] {
  if (phase.type === "terminal") return { kind: "terminal", to: [] };
  const to = targetsOf(phase.next);
  if (phase.type === "consensus" && phase.otherwise !== undefined)
    return { kind: "choice", to: [...new Set([...to, phase.otherwise])] };
  return { kind: "choices" in phase.next ? "choice" : "fixed", to };
}

function targetsOf(next: NextShape): readonly string[] {
  return "choices" in next ? [...new Set(next.choices.flatMap(({ to }) => to))] : next;
}
