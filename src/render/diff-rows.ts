import type { CheckpointDiff, Side } from "../checkpoint/diff.js";
import type { UsageDiff } from "../checkpoint/diff-usage.js";
import { grouped, type Line, nameOf, type Row, signed } from "./diff-view.js";
import { duration } from "./duration.js";

const triggers: Readonly<Record<Side["trigger"], string>> = {
  phase_start: "start of the phase",
  phase_transition: "end of the phase",
  phase_failure: "failure of the phase",
  batch_complete: "end of a batch",
  agent_complete: "end of an agent's work",
  conflict_start: "start of a conflict",
  conflict_resolved: "end of a conflict",
  user_interrupt: "interrupt",
  session_end: "end of a session",
  manual: "saved by a person",
  approval: "approval",
  rollback: "rollback",
  before_human: "question to a person",
  pause: "pause",
  every_n_events: "saved on the way",
};

/** The two checkpoints side by side: what they are, and of the rest only what differs. */
export function rowsOf(diff: CheckpointDiff): readonly Row[] {
  const { older, newer, parts, elapsedMs } = diff;
  const tokens = parts.tokens;
  const cost = parts.costUsd;
  const head = parts.headSha;
  const pull = parts.pullRequest;
  const rows: readonly (readonly [label: string, before: Line, after: Line] | null)[] = [
    ["what", whatOf(older), whatOf(newer)],
    ["when", [moment(older)], [`${moment(newer)}${later(elapsedMs)}`]],
    parts.attempt || parts.version ? ["run", [runOf(older)], [runOf(newer)]] : null,
    parts.outcome ? ["outcome", [older.outcome ?? "none yet"], [newer.outcome ?? "none yet"]] : null,
    parts.durationMs ? ["took", [took(older)], [took(newer)]] : null,
    tokens && ["tokens", [grouped(tokens.total.before)], [tokensNow(tokens)]],
    cost && ["cost", [`$${grouped(cost.before)}`], [`$${grouped(cost.after)} (${signed(cost.delta)})`]],
    head && ["code", commit(head.before), commit(head.after)],
    pull && ["pull request", [pullOf(pull.before)], [pullOf(pull.after)]],
  ];
  return rows.flatMap((row) => (row === null ? [] : { label: row[0], before: row[1], after: row[2] }));
}

function whatOf({ phase, trigger, note }: Side): Line {
  const about: Line = note === null ? [] : [": ", { quote: note, most: 100 }];
  return [nameOf(phase), `, ${triggers[trigger]}`, ...about];
}

function moment({ created_at }: Side): string {
  return `${created_at.slice(0, 10)} ${created_at.slice(11, 19)}Z`;
}

function later(ms: number): string {
  return ms === 0 ? "" : `, ${duration(ms)} later`;
}

function runOf({ version, attempt }: Side): string {
  return `version ${version}, attempt ${attempt}`;
}

function tokensNow({ total, input, output }: UsageDiff): string {
  return `${grouped(total.after)} (${signed(input.delta)} in, ${signed(output.delta)} out)`;
}

function took({ duration_ms }: Side): string {
  return duration_ms === 0 ? "–" : duration(duration_ms);
}

function commit(sha: string | null): Line {
  return sha === null ? ["none"] : [nameOf(sha.slice(0, 7))];
}

function pullOf(number: number | null): string {
  return number === null ? "none" : `#${number}`;
}
