import type { ConsensusShape, TaskShape } from "../workflow/shape.js";
import { waitingInACircle } from "../workflow/task-circle.js";
import { didYouMean } from "./did-you-mean.js";

interface PhaseProblem {
  readonly path: PropertyKey[];
  readonly message: string;
}

/** More than that come from a list: `for_each`. */
const maxTasks = 500;

type Tasks = Readonly<Record<string, TaskShape>>;

interface Phase extends Partial<Pick<ConsensusShape, "voters" | "veto" | "quorum" | "people">> {
  readonly type: string;
  readonly tasks?: Tasks | undefined;
}

type Given<T> = { readonly [Key in keyof T]: T[Key] | undefined };

/** What is wrong between the entries of one phase. */
export function problemsOfPhase(phase: Given<Phase>): readonly PhaseProblem[] {
  if (phase.type === "tasks" && phase.tasks) return problemsOfTasks(phase.tasks);
  return phase.type === "consensus" ? problemsOfVote(phase) : [];
}

function problemsOfTasks(tasks: Tasks): readonly PhaseProblem[] {
  const names = Object.keys(tasks);
  if (names.length === 0) return [{ path: ["tasks"], message: "expected at least one task." }];
  if (names.length > maxTasks)
    return [{ path: ["tasks"], message: `expected at most ${maxTasks} tasks, found ${names.length}.` }];
  const unknown = names.flatMap((name) =>
    (tasks[name]?.dependsOn ?? []).flatMap((needed, index) =>
      Object.hasOwn(tasks, needed)
        ? []
        : [
            {
              path: ["tasks", name, "depends_on", index],
              message: unknownName("a task of this phase", needed, names),
            },
          ],
    ),
  );
  if (unknown.length > 0) return unknown;
  const [first, ...rest] = waitingInACircle(tasks);
  if (first === undefined) return [];
  const message =
    rest.length === 0
      ? `the task ${first} waits for itself.`
      : `the tasks ${[first, ...rest].join(", ")} wait for each other.`;
  return [{ path: ["tasks", first, "depends_on"], message }];
}

function problemsOfVote({ voters = {}, veto, quorum, people }: Given<Phase>): readonly PhaseProblem[] {
  const names = Object.keys(voters);
  if (names.length === 0 && !people)
    return [{ path: [], message: "nobody votes here: name `voters`, or how many `people` have to approve." }];
  const problems: PhaseProblem[] = [];
  if (quorum !== undefined && quorum > names.length) {
    const voting = names.length === 1 ? "there is 1 voter" : `there are ${names.length} voters`;
    problems.push({ path: ["quorum"], message: `${voting}, so ${quorum} can't approve.` });
  }
  for (const [index, name] of (Array.isArray(veto) ? veto : []).entries())
    if (!names.includes(name))
      problems.push({ path: ["veto", index], message: unknownName("a voter of this phase", name, names) });
  return problems;
}

/** `expected …, found "x". Did you mean "y"?` */
export function unknownName(wanted: string, found: string, known: readonly string[]): string {
  const listed = known.length > 20 ? [...known.slice(0, 20), "…"] : known;
  const help = didYouMean(found, known) || ` There are: ${listed.join(", ")}.`;
  return `expected the name of ${wanted}, found ${JSON.stringify(found)}.${help}`;
}
