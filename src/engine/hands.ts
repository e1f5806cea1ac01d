import { CrunchError } from "../errors.js";
import type { Workspace } from "../ports.js";
import type { HookShape } from "../workflow/shape.js";
import type { Hands } from "./compile.js";
import { gateResults, mergeResults } from "./gates.js";
import type { IssueRun, IssueTask } from "./issue-task.js";
import { gateFailure } from "./judgement.js";
import { type AgentPlan, onlyTask, type PhasePlan } from "./plan.js";
import { runsBeside } from "./standing.js";
import { runIssueTask } from "./task-work.js";

/** Carries out phases on an issue: agents in folders with the repo's files, commands beside them, gates. */
export function createHands(run: IssueRun): Hands {
  const { session, journal, folders, recorder } = run;
  const { workflow, phases: plans } = session.plan;
  /** What had been changed when this session began with each phase. */
  const marks = new Map<string, number>();

  function planned(phase: string, name: string): { readonly plan: PhasePlan; readonly agent: AgentPlan } {
    const plan = plans[phase];
    const agent = plan?.agents[name] ?? plan?.agents[onlyTask];
    if (!plan || !agent) throw new Error(`nobody is there for the task ${name} of ${phase}`);
    if (!marks.has(phase)) marks.set(phase, journal.mark);
    return { plan, agent };
  }

  const settingUp = (phase: string) => ({
    setUp: (folder: Workspace, signal: AbortSignal) => setUp(phase, folder, signal),
    basis: {},
  });

  function taskOf(phase: string, name: string): IssueTask {
    const { plan, agent } = planned(phase, name);
    const shape = workflow.phases[phase];
    const about = { ...run, phase, name, plan, agent, ...settingUp(phase) };
    if (shape?.type === "tasks") {
      const { does = "", role = name } = shape.tasks[name] ?? {};
      return { ...about, does, role, kind: "work", isOnly: false };
    }
    if (shape?.type !== "agent") throw new Error(`no agent works in ${phase}`);
    // Those who work at the same time must not write over each other's notes.
    const byDefault = runsBeside(workflow, phase) ? `${agent.name}-${phase}` : agent.name;
    const { does, role = byDefault, forEach, until } = shape;
    const isOnly = forEach === undefined && !until;
    return { ...about, does, role: forEach === undefined ? role : `${role}-${name}`, kind: "work", isOnly };
  }

  async function hooks(phase: string, commands: readonly HookShape[], signal: AbortSignal): Promise<void> {
    if (commands.length === 0) return;
    const { workspace, isNew } = await folders.reserve(phase);
    // What the commands before it made ready is not in a new folder.
    if (isNew && commands !== beforeOf(phase)) await setUp(phase, workspace, signal);
    await runIn(workspace, phase, commands, signal);
  }

  const setUp = (phase: string, folder: Workspace, signal: AbortSignal) =>
    runIn(folder, phase, beforeOf(phase), signal);

  function beforeOf(phase: string): readonly HookShape[] {
    const shape = workflow.phases[phase];
    return (shape?.type !== "terminal" && shape?.before) || [];
  }

  async function runIn(
    { directory }: Workspace,
    phase: string,
    commands: readonly HookShape[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const { command, timeoutMs } of commands) {
      const result = await session.commands.run({ argv: command, directory, timeoutMs, signal });
      if (result.status !== "exited" || result.exitCode !== 0) throw hookFailed(phase, command, result);
    }
  }

  async function gates(phase: string, signal: AbortSignal): Promise<void> {
    const release = await run.turn();
    let folder: Workspace | null = null;
    try {
      // Where another session began with the phase, nobody here can tell whether it changed code.
      const mark = marks.get(phase);
      const isCodeChanged = mark === undefined || journal.changedSince(mark).size > 0;
      folder = await folders.take();
      await setUp(phase, folder, signal);
      const results = await gateResults({ ...run, phase }, signal, folder, { isCodeChanged, outputs: [] });
      const failure = gateFailure(results.filter(({ status }) => status === "failed"));
      journal.keep({
        governance_results: {
          quality_gates: mergeResults(journal.run.governance_results.quality_gates, results),
          compliance_checks: [],
          passed: failure === null,
        },
      });
      if (failure === null) return;
      redo(phase);
      throw new CrunchError(failure);
    } finally {
      if (folder) await folders.drop(folder);
      release();
    }
  }

  /** All of them have a part in what the gates found. */
  function redo(phase: string): void {
    const prefix = `${phase}/`;
    const tasks = Object.entries(recorder.record.nodes).flatMap(([key, { depends_on, input }]) => {
      if (!key.startsWith(prefix)) return [];
      const waits = depends_on.map((each) => each.slice(prefix.length));
      return [
        [key.slice(prefix.length), { depends_on: waits, ...(input !== undefined && { input }) }] as const,
      ];
    });
    recorder.tell({ type: "tasks:planned", phase, tasks: Object.fromEntries(tasks) });
  }

  return {
    variables: () => variablesOf(run),
    run: (phase, name, context) => runIssueTask(taskOf(phase, name), context),
    vote: (phase, voter, context) => {
      const { plan, agent } = planned(phase, voter);
      const shape = workflow.phases[phase];
      const does = (shape?.type === "consensus" && shape.voters[voter]?.does) || "";
      const about = { ...run, phase, plan, agent, does, name: voter, role: voter, ...settingUp(phase) };
      return runIssueTask({ ...about, kind: "vote", isOnly: false }, { ...context, item: null });
    },
    hooks,
    gates,
    close: (phase) => folders.unreserve(phase),
  };
}

/** What conditions may look at besides the data. */
function variablesOf({ journal, recorder, issue }: IssueRun): Readonly<Record<string, unknown>> {
  const { title, body, labels, assignees } = journal.run.issue_snapshot;
  const phases = Object.entries(recorder.record.phases).map(([name, { status }]) => [name, status]);
  return {
    issue: { number: issue.number, title, body, labels, assignees },
    phases: Object.fromEntries(phases),
  };
}

function hookFailed(
  phase: string,
  command: readonly string[],
  {
    status,
    exitCode,
    output,
  }: { readonly status: string; readonly exitCode: number | null; readonly output: string },
): CrunchError {
  const how = status === "exited" ? `exited with code ${exitCode}` : status.replaceAll("_", " ");
  const said = output.trim().split("\n").at(-1) ?? "";
  return new CrunchError({
    code: "hook_failed",
    message: `A command around \`${phase}\` did not succeed: ${command.join(" ")} ${how}${said === "" ? "" : `: ${said.slice(0, 300)}`}.`,
    hint: "Put it right, then comment `/crunch` to try again.",
  });
}
