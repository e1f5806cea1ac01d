import type { GateResult } from "../checkpoint/schema.js";
import { messageOf } from "../errors.js";
import type { Gate, GateContext } from "../gates/gate.js";
import type { Clock, Workspace } from "../ports.js";
import { phasesInOrder } from "../workflow/workflow.js";
import type { IssueRun } from "./issue-task.js";
import type { Journal } from "./journal.js";
import type { Produced } from "./judgement.js";
import { outputsSeen } from "./outputs.js";
import type { Plan } from "./plan.js";
import type { Session } from "./session.js";
import type { Phases } from "./standing.js";

/**
 * The gates that have to hold after a phase: its own, and, when the code changed, those of every phase before it,
 * because what they said was about other code.
 */
export function gatesAfter(plan: Plan, phase: string, phases: Phases, codeChanged: boolean): readonly Gate[] {
  const own = plan.phases[phase]?.gates ?? [];
  if (!codeChanged) return own;
  const earlier = phasesInOrder(plan.workflow)
    .filter(({ name }) => name !== phase && phases[name]?.status === "succeeded")
    .flatMap(({ name }) => plan.phases[name]?.gates ?? []);
  return [...earlier, ...own];
}

export async function evaluateGates(
  gates: readonly Gate[],
  context: GateContext,
  clock: Clock,
): Promise<readonly GateResult[]> {
  const results: GateResult[] = [];
  for (const gate of gates) {
    const began = clock.now().getTime();
    const verdict = await gate.evaluate(context).catch((error: unknown) => ({
      status: "failed" as const,
      summary: "the gate could not be computed",
      details: messageOf(error),
    }));
    const duration_ms = Math.max(0, clock.now().getTime() - began);
    results.push({ name: gate.name, type: gate.type, phase: gate.phase, ...verdict, duration_ms });
  }
  return results;
}

/** What the gates of a phase say of the files in a folder, and of what the phase gave. */
export async function gateResults(
  { session, journal, recorder, phase }: IssueRun & { readonly phase: string },
  signal: AbortSignal,
  workspace: Pick<Workspace, "directory">,
  { isCodeChanged, outputs }: { readonly isCodeChanged: boolean; readonly outputs: Produced["outputs"] },
): Promise<readonly GateResult[]> {
  const { plan, commands, clock } = session;
  const gates = gatesAfter(plan, phase, recorder.record.phases, isCodeChanged);
  const seen = outputsSeen(journal.run.artifacts, outputs);
  const notes = gates.some(({ type }) => type === "notes") ? await allNotes(session, journal) : new Map();
  return evaluateGates(
    gates,
    { directory: workspace.directory, outputs: seen, notes, commands, signal },
    clock,
  );
}

/** Also those that were written in earlier sessions. */
async function allNotes(session: Session, journal: Journal): Promise<ReadonlyMap<string, string>> {
  const notes = new Map<string, string>();
  for (const [role, kept] of Object.entries(journal.run.notes)) {
    const known = session.notes.get(role);
    notes.set(role, known ?? (await journal.read(kept)).toString("utf8"));
  }
  for (const [role, text] of session.notes) notes.set(role, text);
  return notes;
}

/** The results of a run by gate: a newer one takes the place of the older. */
export function mergeResults(before: readonly GateResult[], now: readonly GateResult[]): GateResult[] {
  const replaced = new Set(now.map((result) => result.name));
  return [...before.filter((result) => !replaced.has(result.name)), ...now];
}
