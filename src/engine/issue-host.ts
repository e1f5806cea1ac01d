import type { Checkpoint } from "../checkpoint/schema.js";
import type { Issue } from "../ports.js";
import type { RunHost } from "../runtime/host.js";
import { knownStateLabels } from "../workflow/labels.js";
import { type Decision, isStep } from "./decision.js";
import type { IssueStart } from "./issue-start.js";
import type { IssueRun } from "./issue-task.js";
import type { LabelRule } from "./session.js";
import { snapshotOf } from "./snapshot.js";

/** Where the run is, and the issue as it was last seen. */
export interface Place {
  readonly latest: Checkpoint;
  readonly issue: Issue;
  readonly branchSeen?: string | undefined;
}

/** What a run on an issue sees of the people there, and shows to them. */
export interface IssueView {
  /** What is to be done next, as the issue is now. */
  decide(place: Place): Decision;
  show(place: Place, label: LabelRule): Promise<Place>;
  issue(number: number): Promise<Issue>;
  /** Phases begin by their labels. */
  readonly isManual: boolean;
}

export interface IssueHost extends RunHost {
  position(latest: Checkpoint): Place;
  /** Why nothing more began. */
  held(): Decision | null;
}

/** Shows each step of a run on its issue, and looks there before the next. */
export function createIssueHost(run: IssueRun, view: IssueView, start: IssueStart): IssueHost {
  const { session, journal, recorder, atWork } = run;
  let issue = start.issue;
  let branchSeen = start.branchSeen;
  let isFirst = true;
  let held: Decision | null = null;
  let before = start.latest;

  const position = (latest: Checkpoint): Place => ({
    latest: { ...latest, projections: journal.run.projections },
    issue,
    branchSeen,
  });

  async function show(checkpoint: Checkpoint, label: LabelRule): Promise<void> {
    const shown = await view.show(position(checkpoint), label);
    ({ issue, branchSeen } = shown);
    journal.keep({ projections: shown.latest.projections });
  }

  /** The end of the phase before has announced this one, unless it is a first, one of several, a retry or a jump. */
  function isShown({ workflow_state, orchestrator_state: { phases } }: Checkpoint): boolean {
    if (Object.values(phases).filter(({ status }) => status === "running").length > 1) return false;
    const labels = knownStateLabels(session.plan.workflow, issue.labels);
    const isLabelRight = labels.length === 1 && labels[0] === workflow_state.current_state_label;
    const isAnnounced = before?.session_id === session.id && before.type === "POST" && before.error === null;
    return isAnnounced && isLabelRight;
  }

  const atWorkNow = () => Object.values(recorder.record.phases).some(({ status }) => status === "running");

  return {
    position,
    held: () => held,
    stopTrigger: () => (session.signal.reason === "session_end" ? "session_end" : "user_interrupt"),
    async saved(checkpoint) {
      if (session.signal.aborted) return;
      if (checkpoint.trigger === "phase_start") {
        logStart(run, checkpoint);
        if (!isShown(checkpoint)) await show(checkpoint, "set");
      } else {
        // People act while agents work: look again, but not after a step that took no time.
        if (checkpoint.duration_ms > 0) issue = await view.issue(issue.number);
        branchSeen = undefined;
        await show(checkpoint, "keep");
      }
      before = checkpoint;
    },
    async mayBegin() {
      const { latest } = recorder;
      const isEvent = isFirst;
      isFirst = false;
      if (!isEvent && latest) {
        if (view.isManual && atWorkNow()) return false;
        const next = view.decide(position(latest));
        held = isStep(next) ? null : next;
        if (held) return false;
        if (!atWorkNow()) {
          const seen = { branchSeen, isTextKept: true };
          journal.keep({ issue_snapshot: await snapshotOf(session, position(latest).latest, issue, seen) });
          branchSeen = undefined;
        }
      }
      for (const [name, { status, failure }] of Object.entries(recorder.record.phases))
        if (status === "pending" && failure && failure.code !== "agent_timed_out") journal.forget(name);
      return true;
    },
    async stopped() {
      await Promise.allSettled([...atWork]);
      const at = session.clock.now().toISOString();
      for (const { key, output } of journal.ended()) {
        const [phase = "", task = ""] = key.split("/");
        recorder.tell({ type: "task:completed", phase, task, at, result: output });
      }
    },
    savesBatch: (isLast) => session.plan.checkpoints.batchComplete && !isLast,
  };
}

function logStart({ session, recorder, issue }: IssueRun, { checkpoint_id: id }: Checkpoint): void {
  const { phases } = recorder.record;
  for (const [phase, { status, attempt }] of Object.entries(phases)) {
    if (status !== "running") continue;
    session.log.info(`${phase} begins`, { event: "phase_started", issue: issue.number, phase, attempt, id });
  }
}
