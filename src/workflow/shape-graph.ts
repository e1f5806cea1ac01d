import type { PhaseGraph } from "./graph.js";
import type { PhaseShape, WorkflowShape } from "./shape.js";

/** The phases of a shape and where each leads. */
export function graphOfShape({ first, phases }: WorkflowShape): PhaseGraph {
  const nodes = Object.entries(phases).map(([name, phase]) => [name, nodeOf(phase)] as const);
  return { first, nodes: Object.fromEntries(nodes) };
}

function nodeOf(phase: PhaseShape): PhaseGraph["nodes"][string] {
  if (phase.type === "terminal") return { kind: "terminal", to: [] };
  const { next } = phase;
  const otherwise = phase.type === "consensus" && phase.otherwise !== undefined ? [phase.otherwise] : [];
  const isChoice = "choices" in next;
  const to = isChoice ? next.choices.flatMap((choice) => choice.to) : next;
  return {
    kind: isChoice || otherwise.length > 0 ? "choice" : "fixed",
    to: [...new Set([...to, ...otherwise])],
  };
}
