import type { Workflow } from "./workflow.js";

const prefix = "state:";

export function stateLabel(phase: string): string {
  return `${prefix}${phase}`;
}

export function isStateLabel(label: string): boolean {
  return label.startsWith(prefix);
}

/** The phase a label stands for, or null when this workflow does not know it. */
export function phaseOfLabel(workflow: Workflow, label: string): string | null {
  const name = label.slice(prefix.length);
  return isStateLabel(label) && Object.hasOwn(workflow.phases, name) ? name : null;
}

/** The state labels on an issue that belong to this workflow. Others are somebody else's. */
export function knownStateLabels(workflow: Workflow, labels: readonly string[]): readonly string[] {
  return labels.filter((label) => phaseOfLabel(workflow, label) !== null);
}
