import { CrunchError } from "../errors.js";
import type { PhaseDefinition } from "./definition.js";
import { graphProblems, type PhaseGraph } from "./graph.js";
import { type Waiting, waitingInACircle } from "./task-circle.js";

/** The data of a workflow: what JSON can say, because it is part of every checkpoint. */
export type StateOf = Record<string, unknown>;

export interface WorkflowDefinition<S extends StateOf, Names extends string = string> {
  readonly name: string;
  readonly first: Names;
  readonly initial: S;
  readonly phases: Readonly<Record<Names, PhaseDefinition<S, Names>>>;
  /** How often a phase may be begun before the run fails: a bound on every loop. Default 100. */
  readonly maxVisits: number;
  /** How many sessions may die in a phase before it fails. Default 3. */
  readonly maxAttempts: number;
  /** A checkpoint at least after so many events. Default 1,000. */
  readonly snapshotEvery: number;
  readonly graph: PhaseGraph;
}

export interface WorkflowOptions<S extends StateOf, Names extends string> {
  readonly name: string;
  readonly first: NoInfer<Names>;
  readonly phases: Record<Names, PhaseDefinition<S, NoInfer<Names>>>;
  readonly maxVisits?: number;
  readonly maxAttempts?: number;
  readonly snapshotEvery?: number;
}

/** A phase is part of the ids of its checkpoints, which are file names, and of labels, which have 50 characters. */
export const phaseName = { pattern: /^[a-z][a-z0-9_]*(?:-[a-z0-9_]+)*$/, maxLength: 40 };

/**
 * A workflow: first the data that it begins with, then what it does. In two calls, because only then does every
 * function in it know the type of the data.
 */
export function defineWorkflow<S extends StateOf>(
  initial: S,
): <const Names extends string>(options: WorkflowOptions<S, Names>) => WorkflowDefinition<S, Names> {
  return (options) => checked(initial, options);
}

/** One whose graph makes no sense is refused with everything that is wrong with it. */
function checked<S extends StateOf, Names extends string>(
  initial: S,
  options: WorkflowOptions<S, Names>,
): WorkflowDefinition<S, Names> {
  const { name, first, phases, maxVisits = 100, maxAttempts = 3, snapshotEvery = 1_000 } = options;
  const graph = graphOf<S, Names>(first, phases);
  const problems = [
    ...Object.keys(phases).flatMap(nameProblems),
    ...Object.entries<PhaseDefinition<S, Names>>(phases).flatMap(([each, phase]) =>
      phaseProblems(each, phase),
    ),
    ...graphProblems(graph).map(({ message }) => message),
  ];
  if (problems.length > 0) {
    throw new CrunchError({
      code: "workflow_invalid",
      message: `The workflow ${JSON.stringify(name)} can't run: ${problems.join("; ")}.`,
      hint: "Put the definition right; nothing has been run.",
    });
  }
  return { name, first, initial, phases, maxVisits, maxAttempts, snapshotEvery, graph };
}

function nameProblems(name: string): string[] {
  if (phaseName.pattern.test(name) && name.length <= phaseName.maxLength) return [];
  return [`the phase ${JSON.stringify(name)} needs a name of lower-case letters, digits, \`-\` and \`_\``];
}

function graphOf<S, Names extends string>(
  first: Names,
  phases: Readonly<Record<Names, PhaseDefinition<S, Names>>>,
): PhaseGraph {
  const nodes = Object.entries<PhaseDefinition<S, Names>>(phases).map(([name, phase]) => {
    if (phase.type === "terminal") return [name, { kind: "terminal", to: [] }] as const;
    const { next } = phase;
    const otherwise = phase.type === "consensus" && phase.otherwise ? [phase.otherwise] : [];
    if (typeof next === "string")
      return [name, { kind: kindOf(otherwise), to: [next, ...otherwise] }] as const;
    if (typeof next === "function") return [name, { kind: "any", to: [] }] as const;
    if ("choose" in next) return [name, { kind: "choice", to: [...next.to, ...otherwise] }] as const;
    return [name, { kind: kindOf(otherwise), to: [...next, ...otherwise] }] as const;
  });
  return { first, nodes: Object.fromEntries(nodes) };
}

const kindOf = (otherwise: readonly string[]) => (otherwise.length > 0 ? "choice" : "fixed");

function phaseProblems<S, Names extends string>(name: string, phase: PhaseDefinition<S, Names>): string[] {
  if (phase.type === "terminal") return [];
  const problems: string[] = [];
  const policy = phase.onError;
  if (policy?.strategy === "retry") {
    if (!isWhole(policy.maxRetries, 1))
      problems.push(`\`${name}\` retries without a number of \`maxRetries\``);
    if (policy.jitter !== undefined && !(policy.jitter >= 0 && policy.jitter <= 1))
      problems.push(`the \`jitter\` of \`${name}\` is not between 0 and 1`);
  }
  if (phase.type === "agent") {
    if (typeof phase.run !== "function") problems.push(`\`${name}\` has nothing to \`run\``);
    if (phase.until && !isWhole(phase.until.most, 1))
      problems.push(`the \`until\` of \`${name}\` has no bound: \`most\``);
  }
  if (phase.type === "tasks") problems.push(...taskProblems(name, phase.tasks));
  if (phase.type === "agent" || phase.type === "tasks") {
    if (phase.parallel !== undefined && !isWhole(phase.parallel, 1))
      problems.push(`the \`parallel\` of \`${name}\` is not a number from 1`);
    if (phase.human && !phase.onResponse)
      problems.push(`\`${name}\` asks a person, but has no \`onResponse\``);
  }
  if (phase.type === "human" && typeof phase.onResponse !== "function")
    problems.push(`\`${name}\` asks a person, but has no \`onResponse\``);
  if (phase.type === "consensus") {
    const voters = Object.keys(phase.voters).length;
    if (voters === 0 && !phase.people) problems.push(`nobody votes in \`${name}\``);
    if (phase.quorum !== undefined && !(isWhole(phase.quorum, 1) && phase.quorum <= voters))
      problems.push(`the \`quorum\` of \`${name}\` is not a number from 1 to ${voters}`);
  }
  return problems;
}

const isWhole = (value: number, least: number) => Number.isSafeInteger(value) && value >= least;

/** The same checks as for phases: what a task waits for is there, and does not wait for it in turn. */
function taskProblems(phase: string, tasks: Readonly<Record<string, Waiting>>): string[] {
  const names = Object.keys(tasks);
  if (names.length === 0) return [`\`${phase}\` has no tasks`];
  const unknown = names.flatMap((name) =>
    (tasks[name]?.dependsOn ?? [])
      .filter((needed) => !Object.hasOwn(tasks, needed))
      .map(
        (needed) => `the task \`${name}\` of \`${phase}\` waits for \`${needed}\`, which is no task of it`,
      ),
  );
  if (unknown.length > 0) return unknown;
  const circle = waitingInACircle(tasks);
  return circle.length === 0 ? [] : [`the tasks ${circle.join(", ")} of \`${phase}\` wait for each other`];
}
