import { CrunchError } from "../../errors.js";
import type { Checkpoint, PhaseState } from "../schema.js";

/** A run as its latest checkpoint has it, or as it is before its first. */
export type Run = Omit<Checkpoint, "checkpoint_id" | "parent_checkpoint_id">;

export function refused(code: string, message: string, hint: string): CrunchError {
  return new CrunchError({ code, message, hint });
}

const isOver = ({ status }: PhaseState) => status === "succeeded" || status === "skipped";

/** The phases of a run in the order they run. The last one is terminal: nothing is done in it. */
function phasesOf({ orchestrator_state }: Run): readonly (readonly [string, PhaseState])[] {
  return Object.entries(orchestrator_state.phases);
}

/** The phase that runs, or that is the next to run; null when the run is over. */
export function openPhase(run: Run): string | null {
  const [name] =
    phasesOf(run)
      .slice(0, -1)
      .find(([, state]) => !isOver(state)) ?? [];
  return name ?? null;
}

export function stateOf(run: Run, phase: string): PhaseState {
  const [, state] = phasesOf(run).find(([name]) => name === phase) ?? [];
  if (state) return state;
  const names = phasesOf(run).map(([name]) => name);
  throw refused(
    "phase_unknown",
    `The run has no phase ${JSON.stringify(phase.slice(0, 60))}.`,
    `Name one of its phases: ${names.join(", ")}.`,
  );
}

/** A phase whose turn it is to begin, with its state. */
export function phaseToBegin(run: Run, phase: string): PhaseState {
  const state = stateOf(run, phase);
  const open = openPhase(run);
  if (phase === open) return state;
  if (isOver(state))
    throw refused(
      "phase_over",
      `The phase ${phase} is over already.`,
      "Roll back to a checkpoint of it to run it again.",
    );
  throw refused(
    "phase_not_next",
    open === null
      ? `The phase ${phase} is the last one: nothing runs in it.`
      : `The phase ${phase} can't begin: ${open} is not over.`,
    open === null ? "The run is over; begin a new one." : `End ${open} first.`,
  );
}

/** The phase of the latest checkpoint, if it has the status that a moment needs. */
export function phaseThatIs(run: Run, status: "running" | "waiting"): string {
  const phase = run.workflow_state.current_phase;
  const found = stateOf(run, phase).status;
  if (found === status) return phase;
  throw refused(
    `phase_not_${status}`,
    `The phase ${phase} is not ${status}, but ${found}.`,
    status === "running"
      ? "Begin the phase with `phase_start`, or resume the run, first."
      : "Ask a person with `before_human` first.",
  );
}

/** The run's phases after one of them has changed. When only the terminal one is left, the run has ended too. */
export function withPhase(run: Run, phase: string, change: Partial<PhaseState>) {
  const state = { ...stateOf(run, phase), ...change };
  const phases = { ...run.orchestrator_state.phases, [phase]: state };
  const names = Object.keys(phases);
  const terminal = names.at(-1);
  const last = terminal === undefined ? undefined : phases[terminal];
  const isEnd = names.slice(0, -1).every((name) => isOver(phases[name] ?? state));
  if (isEnd && terminal !== undefined && last) phases[terminal] = { ...last, status: "succeeded" };
  const completed_phases = names.filter((name) => phases[name]?.status === "succeeded");
  return { ...run.orchestrator_state, current_phase: phase, phases, completed_phases };
}
