import type { GateResult } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { AgentResult, Workspace } from "../ports.js";
import { endOf } from "../whole-characters.js";
import { taskKey } from "../workflow/replay.js";
import { asAgentLeft, changedSinceJudged } from "./agent-left.js";
import { agentRecord, doerOf, notesRecord, progressKeptOf } from "./agent-record.js";
import { asArtifacts } from "./artifacts.js";
import { gateResults, mergeResults } from "./gates.js";
import type { IssueTask } from "./issue-task.js";
import { type Failure, gateFailure, judge, type Produced } from "./judgement.js";
import { capturePartialWork } from "./partial-work.js";
import { publishable } from "./publishable.js";
import { keepStopped, keepUnfinished, report } from "./unfinished.js";

/** How the work of an agent is to count. */
interface Verdict {
  readonly produced: Produced;
  readonly gates: readonly GateResult[];
  /** Why nothing of it counts; null when it does, although gates may have failed. */
  readonly failure: Failure | null;
}

const nothing: Produced = { code: [], outputs: [] };

/**
 * Looks at what an agent left, computes the gates, and has the run take over what counts. Gives the commit that the
 * folder then holds; throws when the task has failed.
 */
export async function endTask(
  task: IssueTask,
  signal: AbortSignal,
  workspace: Workspace,
  result: AgentResult,
  { output, release }: { readonly output: unknown; readonly release: () => void },
): Promise<string> {
  const { session, journal } = task;
  const began = session.clock.now().getTime();
  const left = asAgentLeft(workspace);
  const {
    produced,
    gates,
    failure: workFailure,
  } = await verdictOf(task, signal, { workspace, left }, result);
  if (signal.aborted) {
    if (session.signal.aborted) await keepStopped(task, left, result);
    signal.throwIfAborted();
  }
  const failure = workFailure ?? gateFailure(gates.filter(({ status }) => status === "failed"));
  const head = await publishable(task, produced.code);
  const partial = await unfinishedWork(task, left, workFailure);
  const notes = notesRecord(journal.run.notes, task.role, result.notes);
  const live = [...produced.outputs, ...notes.files];
  const doer = doerOf(task);
  const progress = progressKeptOf(result.progress);
  journal.atEnd(taskKey(task.phase, task.name), {
    change: (run) => ({
      ...agentRecord(run, doer, result, produced),
      notes: notesRecord(run.notes, task.role, result.notes).notes,
      files_modified: produced.code.map(({ path, status }) => ({ path, status, staged: true })),
      ...(produced.code.length > 0 && {
        issue_snapshot: { ...run.issue_snapshot, branch: session.plan.branch, head_sha: head },
      }),
      governance_results: {
        quality_gates: mergeResults(run.governance_results.quality_gates, gates),
        compliance_checks: [],
        passed: failure === null,
      },
    }),
    files: [...live, ...asArtifacts([...live, ...(partial?.files ?? [])])],
    unfinished: failure && { partial_work: [...(partial?.partial_work ?? [])], progress },
    own: {
      duration_ms: result.durationMs + Math.max(0, session.clock.now().getTime() - began),
      metadata: result.status === "succeeded" ? {} : { output_tail: endOf(result.outputTail, 4000) },
    },
    paths: [
      ...produced.code.map(({ path }) => path),
      ...produced.outputs.map(({ path }) => `${doer.folder}/${path}`),
    ],
    output: failure ? null : JSON.stringify(output),
    release,
  });
  logGates(task, gates);
  if (failure) throw new CrunchError(failure);
  return head ?? workspace.baseSha;
}

async function verdictOf(
  task: IssueTask,
  signal: AbortSignal,
  { workspace, left }: { readonly workspace: Workspace; readonly left: Workspace },
  result: AgentResult,
): Promise<Verdict> {
  const { session, issue, plan } = task;
  if (task.kind === "vote") return { produced: nothing, gates: [], failure: voteFailure(task, result) };
  const judged = await judge(session, issue.number, plan, left, result);
  if (judged.failure) return { ...judged, gates: [] };
  if (session.plan.checkpoints.agentComplete) await saveBeforeGates(task, left, result);
  if (!task.isOnly) return { ...judged, gates: [] };
  const { code, outputs } = judged.produced;
  const gates = await gateResults(task, signal, workspace, { isCodeChanged: code.length > 0, outputs });
  const folder = session.plan.layout.folder(issue.number);
  // Unless they can't have seen what was judged: then nothing of it counts.
  const changed = gates.length === 0 ? null : await changedSinceJudged(workspace, judged.produced, folder);
  return changed ? { produced: nothing, gates: [], failure: changed } : { ...judged, gates };
}

/** Should the session die while the gates run, the agent is not run again. */
async function saveBeforeGates(task: IssueTask, left: Workspace, result: AgentResult): Promise<void> {
  const { recorder, phase } = task;
  if ((await keepUnfinished(task, left, result)) === null) report(task, result);
  await recorder.save({ type: "PRE", trigger: "agent_complete", outcome: null, phase });
}

function voteFailure({ role }: IssueTask, { status, summary, vote }: AgentResult): Failure | null {
  const hint = "Comment `/crunch` to try again.";
  if (status !== "succeeded") return { code: `agent_${status}`, message: summary, hint };
  if (vote !== undefined) return null;
  const message = `${role} did not vote: its result has no \`vote\`, which is approve, reject or abstain.`;
  return { code: "vote_missing", message, hint };
}

/**
 * What failed work left is kept beside the checkpoint, for people and, after a time limit, for the next attempt.
 * Where the agent wrote what it must not, nothing is: the rest may be part of the same attempt to break out.
 */
async function unfinishedWork(
  { session, journal, issue, plan, kind }: IssueTask,
  left: Workspace,
  failure: Failure | null,
) {
  if (failure === null || failure.code === "path_not_allowed" || kind === "vote") return null;
  return capturePartialWork(session, { issue: issue.number, run: journal.run }, plan, left);
}

function logGates({ session: { log }, issue, phase }: IssueTask, gates: readonly GateResult[]): void {
  const about = { issue: issue.number, phase };
  for (const { name, status, summary } of gates)
    log.info(`gate ${name} ${status}: ${summary}`, { event: "gate", ...about, gate: name, status });
}
