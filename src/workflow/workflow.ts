import { orderOf, type PhaseGraph } from "./graph.js";
import type { PhaseShape, WorkflowShape } from "./shape.js";
import { graphOfShape } from "./shape-graph.js";

/** A workflow as a repo uses it: what its phases are, and how they follow each other. */
export interface Workflow extends WorkflowShape {
  readonly graph: PhaseGraph;
}

export type Phase = PhaseShape & { readonly name: string };

export function createWorkflow(shape: WorkflowShape): Workflow {
  return { ...shape, graph: graphOfShape(shape) };
}

/** The phases, each after all that lead to it; terminal ones last. */
export function phasesInOrder(workflow: Workflow): readonly Phase[] {
  const phases = orderOf(workflow.graph).names.map((name) => phaseNamed(workflow, name));
  const isEnd = ({ type }: Phase) => type === "terminal";
  return [...phases.filter((phase) => !isEnd(phase)), ...phases.filter(isEnd)];
}

export function phaseNamed(workflow: Workflow, name: string): Phase {
  const phase = Object.hasOwn(workflow.phases, name) ? workflow.phases[name] : undefined;
  if (!phase) throw new Error(`workflow ${workflow.name} has no phase ${name}`);
  return { name, ...phase };
}
