import type { PhaseState } from "../checkpoint/schema.js";
import { stateLabel } from "../workflow/labels.js";
import { phasesInOrder, type Workflow } from "../workflow/workflow.js";

export type Phases = Readonly<Record<string, PhaseState>>;

/** Where a run stands. Everything GitHub shows of it follows from this. */
export type Standing =
  | { readonly kind: "running"; readonly phase: string }
  /** The phase can begin at once. */
  | { readonly kind: "next"; readonly phase: string }
  | { readonly kind: "waiting_for_label"; readonly done: string; readonly phase: string }
  | { readonly kind: "waiting_for_person"; readonly phase: string; readonly next: string }
  | { readonly kind: "failed"; readonly phase: string }
  | { readonly kind: "finished"; readonly phase: string };

export function standingOf(workflow: Workflow, phases: Phases, advance: "auto" | "manual"): Standing {
  let done: string | null = null;
  for (const phase of phasesInOrder(workflow)) {
    if (phase.kind === "terminal") return { kind: "finished", phase: phase.name };
    const status = phases[phase.name]?.status ?? "pending";
    if (status === "succeeded" || status === "skipped") {
      // The label that approves a human phase is the label of the next one: it is not asked for twice.
      if (status === "succeeded") done = phase.kind === "human" ? null : phase.name;
      continue;
    }
    if (status === "running") return { kind: "running", phase: phase.name };
    if (status === "failed") return { kind: "failed", phase: phase.name };
    if (status === "waiting" && phase.kind === "human") {
      return { kind: "waiting_for_person", phase: phase.name, next: phase.next };
    }
    // A skipped human phase needs no label of its own: it is passed on the way.
    const passes = phase.kind === "human" && phase.skip !== null;
    if (advance === "manual" && done !== null && !passes) {
      return { kind: "waiting_for_label", done, phase: phase.name };
    }
    return { kind: "next", phase: phase.name };
  }
  throw new Error(`workflow ${workflow.name} has no terminal phase`);
}

/** The one `state:` label that belongs on the issue. */
export function labelFor(standing: Standing): string {
  return stateLabel(standing.kind === "waiting_for_label" ? standing.done : standing.phase);
}

export function pendingPhases(workflow: Workflow): Phases {
  const fresh: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
  return Object.fromEntries(phasesInOrder(workflow).map((phase) => [phase.name, fresh]));
}

/** The run goes on at `target`: what comes before it counts as done or skipped, what follows is to be done. */
export function phasesFrom(workflow: Workflow, phases: Phases, target: string): Phases {
  const names = phasesInOrder(workflow).map((phase) => phase.name);
  const at = names.indexOf(target);
  return Object.fromEntries(
    names.map((name, index) => {
      const state = phases[name] ?? { status: "pending", attempt: 0, version: 0, checkpoint_id: null };
      if (index >= at) return [name, { ...state, status: "pending", attempt: 0, stops: 0 }];
      return [name, state.status === "succeeded" ? state : { ...state, status: "skipped" }];
    }),
  );
}

export function withPhase(phases: Phases, name: string, change: Partial<PhaseState>): Phases {
  const before = phases[name];
  if (!before) throw new Error(`the run has no phase ${name}`);
  return { ...phases, [name]: { ...before, ...change } };
}

/** The phase has ended; when only the terminal one is left, the run has ended too. */
export function endPhase(
  workflow: Workflow,
  phases: Phases,
  name: string,
  change: Partial<PhaseState>,
): Phases {
  const ended = withPhase(phases, name, change);
  const standing = standingOf(workflow, ended, "auto");
  return standing.kind === "finished" ? withPhase(ended, standing.phase, { status: "succeeded" }) : ended;
}

export function completedPhases(workflow: Workflow, phases: Phases): string[] {
  return phasesInOrder(workflow)
    .map((phase) => phase.name)
    .filter((name) => phases[name]?.status === "succeeded");
}
