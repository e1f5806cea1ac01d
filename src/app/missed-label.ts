import type { CrunchEvent } from "../engine/events.js";
import { currentStanding, type Situation } from "../engine/situation.js";
import { labelFor } from "../engine/standing.js";
import type { IssueTracker } from "../ports.js";
import { knownStateLabels } from "../workflow/labels.js";

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
  const { event, latest, issue, isHeld, workflow } = situation;
  if (event.kind !== "started" || isHeld || !latest) return null;
  const known = [...latest.issue_snapshot.labels, labelFor(currentStanding(situation))];
  const [label, ...others] = knownStateLabels(workflow, issue.labels).filter((each) => !known.includes(each));
  return label === undefined || others.length > 0 ? null : labelEvent(tracker, issue.number, label);
}
