/** What a phase is; a workflow is a graph of them. */
export type Phase =
  | { readonly kind: "agent"; readonly name: string; readonly next: string; readonly does: string }
  | {
      readonly kind: "human";
      readonly name: string;
      readonly next: string;
      readonly does: string;
      /** Why nobody has to be asked, or null when a person has to answer. */
      readonly skip: string | null;
    }
  | { readonly kind: "terminal"; readonly name: string };

export interface Workflow {
  readonly name: string;
  readonly first: string;
  readonly phases: Readonly<Record<string, Phase>>;
}

/** The phases in the order they run, the terminal one last. */
export function phasesInOrder(workflow: Workflow): readonly Phase[] {
  const ordered: Phase[] = [];
  for (let name: string | null = workflow.first; name !== null; ) {
    const phase: Phase = phaseNamed(workflow, name);
    ordered.push(phase);
    name = phase.kind === "terminal" ? null : phase.next;
  }
  return ordered;
}

export function phaseNamed(workflow: Workflow, name: string): Phase {
  const phase = Object.hasOwn(workflow.phases, name) ? workflow.phases[name] : undefined;
  if (!phase) throw new Error(`workflow ${workflow.name} has no phase ${name}`);
  return phase;
}
