import { pendingBatches } from "../../src/checkpoint/execution-graph.js";
import type { Moment } from "../../src/checkpoint/moments/moment.js";
import { type Checkpoint, Trigger } from "../../src/checkpoint/schema.js";
import { aGateResult } from "../builders.js";

type Created = Moment<Exclude<Trigger, "rollback">>;

export const createdTriggers = Trigger.options.filter((trigger) => trigger !== "rollback");

const phases = ["plan", "review", "build"];

/** A moment that could come next, most of the time: what `dice` says may also be one that has to be refused. */
export function momentOf(trigger: Created["trigger"], dice: number, latest: Checkpoint): Created {
  const open = phases.find((name) => !isOver(latest, name)) ?? "done";
  const phase = dice % 7 === 0 ? (phases[dice % 3] ?? open) : open;
  const batch = pendingBatches(latest.execution_graph.node_states)[0] ?? [];
  const ready = dice % 7 === 1 ? ["tests"] : batch;
  const reports = Object.fromEntries(ready.map((id, at) => [id, reportOf(dice + at)]));
  const conflicts = latest.acp_state.conflicts_in_progress;
  switch (trigger) {
    case "phase_start":
      return { trigger, phase, ...(dice % 2 === 0 && { tasks: tasksOf(dice) }) };
    case "phase_transition":
      return dice % 5 === 0 ? { trigger, outcome: "skipped", phase } : { trigger, tasks: reports };
    case "phase_failure":
      return { trigger, error, qualityGates: [aGateResult({ status: "failed" })] };
    case "batch_complete":
      return { trigger, tasks: reports };
    case "agent_complete":
      return { trigger, task: ready[dice % Math.max(1, ready.length)] ?? "none", report: reportOf(dice) };
    case "conflict_start":
      return { trigger, conflict: `CONF-${dice % 3}`, between: ["a", "b"] };
    case "conflict_resolved":
      return { trigger, conflict: conflicts[0] ?? "CONF-9", resolution: "agreed" };
    case "approval":
      return { trigger, by: "octocat" };
    case "before_human":
      return { trigger, phase, question: "Is this right?" };
    case "pause":
      return { trigger, pause: { kind: "rollback" } };
    case "manual":
      return { trigger, note: `note ${dice}` };
    case "user_interrupt":
    case "session_end":
    case "every_n_events":
      return { trigger, knowledge: { pending: [`KE-${dice % 4}`], captured: [`KE-${dice % 3}`] } };
  }
}

/** What a run consists of for the most part, so that phases get to their end, also once more after a rollback. */
export function workOn(latest: Checkpoint, dice: number): Created {
  const { orchestrator_state, execution_graph } = latest;
  const isRunning = Object.values(orchestrator_state.phases).some(({ status }) => status === "running");
  const batches = pendingBatches(execution_graph.node_states);
  const trigger = !isRunning ? "phase_start" : batches.length > 1 ? "batch_complete" : "phase_transition";
  return momentOf(trigger, dice % 4 === 0 ? 8 : 3, latest);
}

const error = { code: "agent_failed", message: "The agent failed.", hint: "Try again." };

function isOver({ orchestrator_state }: Checkpoint, phase: string): boolean {
  return /succeeded|skipped/.test(orchestrator_state.phases[phase]?.status ?? "");
}

function reportOf(dice: number) {
  const status = dice % 11 === 0 ? ("failed" as const) : ("complete" as const);
  return { status, summary: `did ${dice}`, tokenUsage: { input: dice, output: 1 } };
}

function tasksOf(dice: number) {
  return {
    design: { agent: "architect" },
    lint: {},
    code: { agent: "builder", dependsOn: ["design"] },
    ...(dice % 3 === 0 ? {} : { tests: { agent: "builder", dependsOn: ["code", "lint"] } }),
  };
}
