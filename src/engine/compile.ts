import { shortened } from "../markdown.js";
import type { StateOf, WorkflowDefinition } from "../workflow/define-workflow.js";
import type {
  ErrorPolicy,
  HumanRequest,
  Next,
  PhaseDefinition,
  TaskContext,
  Vote,
} from "../workflow/definition.js";
import { compileExpression, fillTemplate } from "../workflow/expression.js";
import type { AskShape, ErrorShape, HookShape, NextShape, PhaseShape } from "../workflow/shape.js";
import type { Workflow } from "../workflow/workflow.js";
import { defined, hasHooks, hasManyTasks, isTrue, listOf, noChoice, rejected } from "./compile-parts.js";
import { onlyTask } from "./plan.js";
import type { TaskOutput } from "./task-work.js";

/** What the phases of a workflow are carried out with. */
export interface Hands {
  /** What expressions see besides the data and the phase's output. */
  variables(): Readonly<Record<string, unknown>>;
  run(phase: string, task: string, context: TaskContext<StateOf, unknown>): Promise<TaskOutput>;
  vote(phase: string, voter: string, context: TaskContext<StateOf>): Promise<TaskOutput>;
  hooks(phase: string, hooks: readonly HookShape[], signal: AbortSignal): Promise<void>;
  /** The gates of a phase with several tasks; throws when one does not pass. */
  gates(phase: string, signal: AbortSignal): Promise<void>;
  /** The phase has ended, however. */
  close(phase: string): Promise<void>;
}

type Definition = PhaseDefinition<StateOf, string>;
type Worker = Extract<PhaseShape, { type: "agent" | "tasks" }>;

/** A workflow of data as one that runs. */
export function compile(workflow: Workflow, maxAttempts: number, hands: Hands): WorkflowDefinition<StateOf> {
  const { name, first, initial, maxVisits, snapshotEvery, graph } = workflow;
  const phases = Object.entries(workflow.phases).map(([each, shape]) => [
    each,
    definitionOf(each, shape, hands),
  ]);
  return {
    ...{ name, first, initial, maxVisits, maxAttempts, snapshotEvery, graph },
    phases: Object.fromEntries(phases) as Record<string, Definition>,
  };
}

function definitionOf(name: string, shape: PhaseShape, hands: Hands): Definition {
  if (shape.type === "terminal") return { type: "terminal" };
  const common = commonOf(name, shape, hands);
  switch (shape.type) {
    case "human":
      return {
        type: "human",
        ...common,
        ...afterHooks(name, shape, hands),
        human: (state: StateOf) => requestOf(shape.ask, { ...hands.variables(), state }),
        onResponse: answering(name, shape.ask),
        next: nextOf(name, shape.next, hands, shape.ask),
      };
    case "consensus": {
      const voters = Object.keys(shape.voters).map((voter) => [
        voter,
        async (context: TaskContext<StateOf>) => voteOf(await hands.vote(name, voter, context)),
      ]);
      const { quorum, veto, otherwise } = shape;
      const people = shape.people && {
        ...shape.people,
        prompt: (state: StateOf) => promptOf(shape.people?.prompt ?? "", { ...hands.variables(), state }),
      };
      return {
        ...{ type: "consensus", ...common, voters: Object.fromEntries(voters) },
        ...defined({ quorum, veto, people, otherwise }),
        next: nextOf(name, shape.next, hands, null),
      };
    }
    default:
      return workerOf(name, shape, common, hands);
  }
}

function workerOf(name: string, shape: Worker, common: object, hands: Hands): Definition {
  // Each is a process and a folder of its own.
  const { ask, parallel = 4 } = shape;
  const isOne = !hasManyTasks(shape);
  const worker = {
    ...common,
    parallel,
    after: async (_: unknown, { signal }: { signal: AbortSignal }) => {
      if (!isOne) await hands.gates(name, signal);
      await hands.hooks(name, shape.after ?? [], signal);
    },
    update: updating(name, shape, isOne, hands),
    ...(ask && {
      human: (state: StateOf, output: unknown) => {
        const variables = { ...hands.variables(), state, output };
        const isAsked = ask.when === undefined || isTrue(compileExpression(ask.when)(variables), ask.when);
        return isAsked ? requestOf(ask, variables) : null;
      },
      onResponse: answering(name, ask),
    }),
    next: nextOf(name, shape.next, hands, ask ?? null),
  };
  const run = (task: string) => (context: TaskContext<StateOf>) => hands.run(name, task, context);
  if (shape.type === "tasks") {
    const tasks = Object.entries(shape.tasks).map(([task, { dependsOn = [] }]) => [
      task,
      { run: run(task), dependsOn },
    ]);
    return { type: "tasks", ...worker, tasks: Object.fromEntries(tasks) };
  }
  if (isOne) return { type: "tasks", ...worker, tasks: { [onlyTask]: { run: run(onlyTask) } } };
  const { forEach, until } = shape;
  const each = (context: TaskContext<StateOf, unknown>) => hands.run(name, context.task, context);
  const done = until && compileExpression(until.done);
  return {
    ...{ type: "agent", ...worker, run: each },
    ...(forEach !== undefined && {
      forEach: (state: StateOf) => listOf(forEach, { ...hands.variables(), state }),
    }),
    ...(until && {
      until: {
        most: until.most,
        done: (state: StateOf, output: unknown) =>
          isTrue(done?.({ ...hands.variables(), state, output }), until.done),
      },
    }),
  };
}

function commonOf(name: string, shape: Exclude<PhaseShape, { type: "terminal" }>, hands: Hands) {
  const { does, optional, skip, guard, before = [], onError, timeLimits } = shape;
  const isLet = guard === undefined ? null : compileExpression(guard);
  return {
    ...{ does, ...defined({ optional, skip, timeLimits }) },
    ...(isLet && { guard: (state: StateOf) => isTrue(isLet({ ...hands.variables(), state }), guard ?? "") }),
    // Tasks that have folders of their own are each set up there.
    ...(before.length > 0 &&
      !hasManyTasks(shape) && {
        before: ({ signal }: { signal: AbortSignal }) => hands.hooks(name, before, signal),
      }),
    ...(hasHooks(shape) && {
      finally: async ({ signal }: { signal: AbortSignal }) => {
        try {
          await hands.hooks(name, shape.finally ?? [], signal);
        } finally {
          await hands.close(name);
        }
      },
    }),
    ...(onError && { onError: policyOf(onError, hands) }),
  };
}

function afterHooks(name: string, { after = [] }: { readonly after?: readonly HookShape[] }, hands: Hands) {
  if (after.length === 0) return {};
  return { after: ({ signal }: { signal: AbortSignal }) => hands.hooks(name, after, signal) };
}

function policyOf(shape: ErrorShape, hands: Hands): ErrorPolicy<StateOf> {
  if (shape.strategy === "fail") return shape;
  if (shape.strategy === "pause") {
    const { prompt } = shape;
    if (prompt === undefined) return { strategy: "pause" };
    const asked = (error: Error, state: StateOf) =>
      promptOf(prompt, { ...hands.variables(), state, output: { error: error.message } });
    return { strategy: "pause", prompt: asked };
  }
  const { update, ...rest } = shape;
  if (!update) return rest;
  const onRetry = (error: Error, draft: StateOf) => assign(draft, update, { error: error.message }, hands);
  return { ...rest, onRetry };
}

/** What a phase gives is taken over as the shape says; by default what its agent gave as `data`, under its own name. */
function updating(name: string, { update }: Worker, isOne: boolean, hands: Hands) {
  return (output: unknown, draft: StateOf): void => {
    const { data, task } = output as TaskOutput;
    if (update) assign(draft, update, output, hands);
    else if (data !== null && isOne) draft[name] = data;
    else if (data !== null) draft[name] = { ...(draft[name] as object | undefined), [task]: data };
  };
}

function assign(
  draft: StateOf,
  update: Readonly<Record<string, string>>,
  output: unknown,
  hands: Hands,
): void {
  for (const [key, expression] of Object.entries(update))
    draft[key] = compileExpression(expression)({ ...hands.variables(), state: { ...draft }, output });
}

function nextOf(
  name: string,
  next: NextShape,
  hands: Hands,
  ask: AskShape | null,
): Next<StateOf, string, unknown> {
  const key = ask?.saveAs ?? name;
  if (!("choices" in next)) {
    const isApproval = ask?.type === "approval";
    if (!isApproval) return next.length === 1 && next[0] !== undefined ? next[0] : next;
    // Without another way for it, a no is the end.
    const choose = (state: StateOf) => {
      if (state[key] === "reject") throw rejected(name);
      return next;
    };
    return { to: next, choose };
  }
  const choices = next.choices.map((choice) => ({
    to: choice.to,
    text: choice.if ?? "",
    holds: choice.if === null ? null : compileExpression(choice.if),
  }));
  return {
    to: choices.flatMap(({ to }) => to),
    choose: (state, output) => {
      const variables = { ...hands.variables(), state, output };
      const chosen = choices.find(({ holds, text }) => holds === null || isTrue(holds(variables), text));
      if (!chosen) throw noChoice(name);
      return chosen.to;
    },
  };
}

function requestOf(ask: AskShape, variables: Readonly<Record<string, unknown>>): HumanRequest {
  const { type, choices = [], timeoutMs, onTimeout, remindMs } = ask;
  const prompt = promptOf(ask.prompt, variables);
  const about = { prompt, ...defined({ timeoutMs, onTimeout, remindAfterMs: remindMs }) };
  return type === "choice" ? { type, choices, ...about } : { type, ...about };
}

/** What is filled in may be an agent's, and of any length. */
function promptOf(text: string, variables: Readonly<Record<string, unknown>>): string {
  return shortened(fillTemplate(text, variables), 4_000);
}

function answering(name: string, { saveAs = name }: AskShape) {
  return (response: string, draft: StateOf): void => {
    draft[saveAs] = response;
  };
}

function voteOf({ vote, summary }: TaskOutput): Vote {
  return { vote: vote ?? "abstain", reason: summary };
}
