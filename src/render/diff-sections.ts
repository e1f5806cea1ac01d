import type { CheckpointDiff } from "../checkpoint/diff.js";
import type { DiffParts } from "../checkpoint/diff-parts.js";
import { fileSections } from "./diff-file-sections.js";
import { isErrorTold } from "./diff-story.js";
import {
  type Item,
  type Line,
  lineCount,
  type Mark,
  nameOf,
  type Section,
  signed,
  withCode,
} from "./diff-view.js";

const arrow = " → ";

/** Subject by subject, what went wrong first; subjects without a difference are left out. */
export function sectionsOf(diff: CheckpointDiff): readonly Section[] {
  const { parts } = diff;
  const sections = [
    errors(diff),
    gates(parts),
    section("Acceptance criteria", parts.criteria.map(criterion)),
    issue(parts),
    ...fileSections(diff),
    section("What agents reported", parts.outputs.map(output)),
    section("Phases", phases(diff)),
    section("Tasks", tasks(diff)),
    section("Tokens by agent", tokens(parts)),
    section("Conflicts", names("in progress", parts.conflicts)),
  ];
  return sections.filter(({ items, blocks }) => items.length + blocks.length > 0);
}

function section(title: string, items: readonly Item[]): Section {
  return { title, items, blocks: [] };
}

function errors(diff: CheckpointDiff): Section {
  const { error } = diff.parts;
  const items: Item[] = [];
  if (error?.after) {
    if (!isErrorTold(diff)) items.push({ mark: "bad", line: [{ quote: error.after.message }] });
    items.push({ mark: "none", line: ["What to do: ", ...withCode(error.after.hint)] });
  }
  if (error?.before) {
    const told = error.after ? "Before: " : "Gone: ";
    items.push({ mark: error.after ? "none" : "good", line: [told, { quote: error.before.message }] });
  }
  return section("Error", items);
}

function gates({ gates }: DiffParts): Section {
  const items = gates.map(({ name, phase, before, after, summary }) => {
    const was = before === after ? [] : [`${before ?? "not run"}${arrow}${after ?? "gone"}: `];
    const mark: Mark = after === "failed" ? "bad" : after === "passed" ? "good" : "none";
    return { mark, line: [nameOf(name), " of ", nameOf(phase), ", ", ...was, { quote: summary }] };
  });
  const blocks = gates.flatMap(({ name, details }) =>
    details === null
      ? []
      : { title: ["Why ", nameOf(name), " fails"], text: details, language: "text" as const },
  );
  return { title: "Gates", items, blocks };
}

function criterion({ name, before, after }: DiffParts["criteria"][number]): Item {
  const words = (is: boolean | null) => (is === null ? "not judged" : is ? "met" : "not met");
  const isWorse = before === true && after === false;
  const mark = after === true ? "good" : isWorse ? "bad" : after === null ? "none" : "warn";
  return { mark, line: [{ quote: name }, `: ${words(before)}${arrow}${words(after)}`] };
}

function issue({ title, body, labels, assignees }: DiffParts): Section {
  const items: Item[] = [...names("labels", labels), ...names("assignees", assignees)];
  if (title) {
    const line: Line = ["title: ", { quote: title.before }, arrow, { quote: title.after }];
    items.unshift({ mark: "changed", line });
  }
  const blocks =
    body === null
      ? []
      : [{ title: [`Text: ${lineCount(body)}`], text: body.unified, language: "diff" as const }];
  return { title: "Issue", items, blocks };
}

const mostNames = 10;

/** What came and what went, in one line. */
function names(label: string, change: DiffParts["labels"]): Item[] {
  if (change === null) return [];
  const all = [
    ...change.added.map((name): Line => [" +", nameOf(name)]),
    ...change.removed.map((name): Line => [" −", nameOf(name)]),
  ];
  const more = all.length > mostNames ? [` and ${all.length - mostNames} more`] : [];
  return [{ mark: "changed", line: [`${label}:`, ...all.slice(0, mostNames).flat(), ...more] }];
}

function output({ agent, task, before, after }: DiffParts["outputs"][number]): Item {
  const who: Line = [nameOf(agent), " on ", nameOf(task), ": "];
  if (after === null) return { mark: "removed", line: [...who, "no longer there"] };
  if (before === null) return { mark: "added", line: [...who, { quote: after }] };
  return {
    mark: "changed",
    line: [...who, { quote: after }, " (before: ", { quote: before, most: 120 }, ")"],
  };
}

/** The newer checkpoint's own phase alone is what the headline and the table are about. */
function phases({ parts, newer }: CheckpointDiff): Item[] {
  return parts.phases.every(({ name }) => name === newer.phase) ? [] : parts.phases.map(phase);
}

const phaseMarks = { succeeded: "good", failed: "bad", waiting: "warn" } as const;

function phase({ name, before, after, attempt, version }: DiffParts["phases"][number]): Item {
  const mark =
    after === "succeeded" || after === "failed" || after === "waiting" ? phaseMarks[after] : "none";
  const status =
    before === after ? `${after ?? "gone"}` : `${before ?? "not there"}${arrow}${after ?? "gone"}`;
  const counts = [
    ...(version && version.before > 0 ? [`version ${version.before}${arrow}${version.after}`] : []),
    ...(attempt && attempt.after > 1 ? [`attempt ${attempt.before}${arrow}${attempt.after}`] : []),
  ];
  return { mark, line: [nameOf(name), ` ${[status, ...counts].join(", ")}`] };
}

/** Each phase has tasks of its own: those of another phase are not missed. */
function tasks({ parts }: CheckpointDiff): Item[] {
  return parts.tasks
    .filter(({ after }) => after !== null || parts.phase === null)
    .map(({ id, agent, before, after }) => {
      const by: Line = agent === null ? [] : [" by ", nameOf(agent)];
      const mark = after === "complete" ? "good" : after === "failed" ? "bad" : "none";
      return { mark, line: [nameOf(id), ...by, ` ${before ?? "new"}${arrow}${after ?? "gone"}`] };
    });
}

function tokens({ tokens }: DiffParts): Item[] {
  const agents = tokens?.byAgent ?? [];
  if (agents.length === 1) return [];
  return agents.map(({ agent, input, output }) => ({
    mark: "none",
    line: [nameOf(agent), ` ${signed(input)} in, ${signed(output)} out`],
  }));
}
