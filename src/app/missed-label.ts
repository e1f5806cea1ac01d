import type { CrunchEvent } from "../engine/events.js";
import { mayDo } from "../engine/refuse.js";
import { currentStanding, type Situation } from "../engine/situation.js";
import { labelFor } from "../engine/standing.js";
import type { IssueTracker } from "../ports.js";
import { knownStateLabels, phaseOfLabel } from "../workflow/labels.js";
import { phaseNamed } from "../workflow/workflow.js";

/** A label counts only with the name of who added it: not everybody who may label may start a run. */
export async function labelEvent(
  tracker: IssueTracker,
  issue: number,
  label: string,
): Promise<CrunchEvent | null> {
  const by = await tracker.labeledBy(issue, label);
  if (by === null || by.login.endsWith("[bot]")) return null;
  return { kind: "labeled", issue, label, actor: by.login, key: `label:${label}@${by.at}` };
}

/**
 * What a person wished by a label while nobody listened. The label that was there when the checkpoint was made, and
 * the one it leads to, are none: Crunch may have died before it moved the one to the other.
 */
export async function missedLabel(tracker: IssueTracker, situation: Situation): Promise<CrunchEvent | null> {
  const label = situation.event.kind === "started" ? movedLabel(situation) : null;
  return label === null ? null : labelEvent(tracker, situation.issue.number, label);
}

/** The phase that such a label asks for, when a person with write access asks Crunch to go on. */
export async function phaseMovedTo(tracker: IssueTracker, situation: Situation): Promise<string | null> {
  const { event, issue, workflow } = situation;
  if (event.kind !== "command" || !["run", "resume"].includes(event.command.name)) return null;
  const label = movedLabel(situation);
  const phase = label === null ? null : phaseOfLabel(workflow, label);
  if (label === null || phase === null || phaseNamed(workflow, phase).type === "terminal") return null;
  const by = await tracker.labeledBy(issue.number, label);
  return by !== null && mayDo(await tracker.permissionOf(by.login), "write") ? phase : null;
}

function movedLabel(situation: Situation): string | null {
  const { latest, issue, isHeld, workflow } = situation;
  if (isHeld || !latest) return null;
  const known = [...latest.issue_snapshot.labels, labelFor(currentStanding(situation))];
  const [label, ...others] = knownStateLabels(workflow, issue.labels).filter((each) => !known.includes(each));
  return label === undefined || others.length > 0 ? null : label;
}
