import { emptyRun, firstCheckpoint, nextCheckpoint } from "../../checkpoint/create.js";
import { firstChange } from "../../checkpoint/moments/index.js";
import type { Moment, Task } from "../../checkpoint/moments/moment.js";
import type { Checkpoint, PhaseState } from "../../checkpoint/schema.js";
import { CrunchError } from "../../errors.js";
import { type ServiceContext, storeNext } from "./context.js";
import { type Extra, withFiles } from "./files.js";

export interface BeginOptions {
  readonly issue: number;
  readonly title: string;
  readonly body: string;
  /** In the order they run. `done`, in which nothing runs, comes last by itself. */
  readonly phases: readonly string[];
  /** The tasks of the first phase; one with its name where they are left out. */
  readonly tasks?: Readonly<Record<string, Task>>;
  readonly workflow?: string;
  readonly labels?: readonly string[];
  readonly assignees?: readonly string[];
  readonly startedBy?: string;
  /** The code that the run starts from, where there is some. */
  readonly code?: Partial<
    Pick<Checkpoint["issue_snapshot"], "branch" | "head_sha" | "base_branch" | "base_sha">
  >;
  /** Begins anew although an earlier run is not over. */
  readonly restart?: boolean;
}

const terminal = "done";
const fresh: PhaseState = { status: "pending", attempt: 0, version: 0, checkpoint_id: null };

/** The first checkpoint of a run. The runs of an issue share one chain, so a new run follows the one before. */
export async function begin(
  context: ServiceContext,
  options: BeginOptions,
  extra: Extra,
): Promise<Checkpoint> {
  const { issue, title, body, labels = [], assignees = [], tasks } = options;
  const { maker } = context;
  const names = phaseNames(options.phases);
  const [phase = terminal] = names;
  const snapshot = {
    ...{ title, body, labels: [...labels], assignees: [...assignees], branch: null, head_sha: null },
    ...{ base_branch: "main", base_sha: "0".repeat(40), ...options.code },
  };
  return storeNext(context, issue, async (latest) => {
    if (latest?.recovery_info.can_resume && !options.restart) throw notOver(latest);
    const run = emptyRun({
      ...{ issue, workflow: options.workflow ?? "library", phase, snapshot, maker },
      phases: Object.fromEntries(names.map((name) => [name, fresh])),
      startedBy: options.startedBy ?? maker.sessionId,
    });
    const moment: Moment<"phase_start"> = { trigger: "phase_start", phase, ...(tasks && { tasks }) };
    const { moment: told, files } = await withFiles(context, issue, moment, extra);
    const change = firstChange(run, told, maker.now().toISOString());
    const checkpoint = latest
      ? nextCheckpoint(latest, { ...run, ...change }, maker)
      : firstCheckpoint(run, change, maker);
    return { checkpoint, options: { files } };
  });
}

function phaseNames(given: readonly string[]): readonly string[] {
  const names = given.at(-1) === terminal ? given : [...given, terminal];
  const isUsable = names.length > 1 && new Set(names).size === names.length;
  // A phase is part of the ids of its checkpoints, which are file names.
  if (isUsable && names.every((name) => /^[a-z][a-z0-9_]*(?:-[a-z0-9_]+)*$/.test(name) && name.length <= 40))
    return names;
  throw new CrunchError({
    code: "phases_invalid",
    message: `${JSON.stringify(given).slice(0, 200)} can't be the phases of a run.`,
    hint: "Name at least one phase, each once, in lower-case letters, digits, `-` and `_`.",
  });
}

function notOver({ issue_number: issue, workflow_state }: Checkpoint): CrunchError {
  return new CrunchError({
    code: "run_not_over",
    message: `Issue ${issue} has a run that is not over: it is in the phase ${workflow_state.current_phase}.`,
    hint: "Resume it, or begin with `restart: true` to leave it behind.",
  });
}
