import type { CheckpointDiff } from "../checkpoint/diff.js";
import type { GateDiff } from "../checkpoint/diff-gates.js";
import { count, type Item, type Line, listed, type Mark, nameOf } from "./diff-view.js";

const isEnd = (status: string | null) => status === "succeeded" || status === "skipped";

/** The one sentence that a person who reads no further should have read. */
export function headlineOf(diff: CheckpointDiff): Item {
  const { isSame, older, newer, parts } = diff;
  const phase = nameOf(newer.phase);
  if (older.checkpoint_id === newer.checkpoint_id) return say("none", ["Both are the same checkpoint."]);
  if (isSame) return say("none", ["Nothing of the run changed between these two checkpoints."]);
  if (parts.run) return say("warn", ["These are two different runs: the newer one was started afresh."]);
  if (newer.trigger === "rollback")
    return say("warn", ["The run was rolled back and goes on at ", phase, "."]);
  const isAgain = parts.phase === null;
  const lead = endedBefore(diff);
  switch (newer.outcome) {
    case "failed": {
      const how = isAgain && older.outcome === "failed" ? " failed again" : " failed";
      const why: Line = parts.error?.after ? [": ", { quote: parts.error.after.message, most: 200 }] : ["."];
      return say("bad", [...lead, phase, how, ...why]);
    }
    case "succeeded":
      if (!isAgain || older.outcome === null) return say("good", [...lead, phase, " succeeded."]);
      if (older.outcome === "failed") return say("good", [phase, " succeeds now, after it had failed."]);
      return parts.version
        ? say("good", [phase, ` was run again and succeeded (version ${newer.version}).`])
        : say("none", [phase, " had ended already; something else changed since."]);
    case null:
      if (newer.trigger === "before_human") return say("warn", [...lead, phase, " waits for a person."]);
      if (!isAgain) return say("none", [...lead, phase, " began."]);
      return parts.attempt || parts.version
        ? say("none", [phase, ` began again (version ${newer.version}, attempt ${newer.attempt}).`])
        : say("none", [phase, " went on."]);
    default:
      return say(newer.outcome === "approved" ? "good" : "warn", [...lead, phase, ` was ${newer.outcome}.`]);
  }
}

/** Whether the headline has told the whole error, so that it need not be told twice. */
export function isErrorTold({ newer, parts }: CheckpointDiff): boolean {
  const length = parts.error?.after?.message.length ?? 0;
  return newer.outcome === "failed" && newer.trigger !== "rollback" && parts.run === null && length <= 200;
}

function say(mark: Mark, line: Line): Item {
  return { mark, line };
}

/** The phases that ended on the way to the newer checkpoint's own. */
function endedBefore({ parts, newer }: CheckpointDiff): Line {
  const ended = parts.phases
    .filter(({ name, before, after }) => name !== newer.phase && isEnd(after) && !isEnd(before))
    .map(({ name }) => name);
  return ended.length === 0 ? [] : [...listed(ended), " ended, then "];
}

const mostFacts = 6;

/** What matters besides, in the order in which it does. */
export function factsOf({ parts, newer }: CheckpointDiff): readonly Line[] {
  const gates = (kind: GateDiff["kind"]) => parts.gates.filter((gate) => gate.kind === kind);
  const outputs = (kind: string) =>
    parts.artifacts.filter((one) => one.kind === kind).map(({ path }) => path);
  const met = parts.criteria.filter(({ after }) => after === true).length;
  const unmet = parts.criteria.filter(({ before, after }) => before === true && after === false).length;
  const criteria = (amount: number) => count(amount, "acceptance criterion is", "acceptance criteria are");
  const facts: Line[] = [
    gateFact(gates("newly_failed"), "fails", "fail"),
    gateFact(gates("newly_passed"), "passes", "pass"),
    unmet === 0 ? [] : [`${criteria(unmet)} no longer met`],
    met === 0 ? [] : [`${criteria(met)} met now`],
    parts.body === null && parts.title === null ? [] : ["the issue was edited meanwhile"],
    codeFact(parts.headSha !== null, newer),
    ...(["changed", "added", "removed"] as const).map((kind): Line => {
      const paths = outputs(kind);
      return paths.length === 0 ? [] : [...listed(paths, 2), ` ${kind}`];
    }),
  ];
  return facts.filter((fact) => fact.length > 0).slice(0, mostFacts);
}

function codeFact(isMoved: boolean, { trigger, files, phase }: CheckpointDiff["newer"]): Line {
  if (!isMoved) return [];
  if (trigger === "rollback") return ["the code was taken back"];
  return files === 0
    ? ["the code branch moved"]
    : [`${count(files, "file")} of code changed by `, nameOf(phase)];
}

function gateFact(gates: readonly GateDiff[], one: string, many: string): Line {
  if (gates.length === 0) return [];
  const names = listed(gates.map(({ name }) => name));
  return gates.length === 1
    ? ["the gate ", ...names, ` ${one} now`]
    : ["the gates ", ...names, ` ${many} now`];
}
