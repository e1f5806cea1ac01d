import type { Vote } from "./definition.js";

export interface ConsensusRule {
  /** How many have to approve; without a number, more than half of those who did not abstain. */
  readonly quorum?: number | undefined;
  readonly veto?: readonly string[] | "anybody" | undefined;
}

export interface Verdict {
  readonly approved: boolean;
  readonly reason: string;
}

/** What agents' votes come to. Nobody who approves is no consensus, also when all abstain. */
export function consensusOf(
  votes: Readonly<Record<string, Vote>>,
  { quorum, veto = [] }: ConsensusRule,
): Verdict {
  const entries = Object.entries(votes);
  const has = (wanted: Vote["vote"]) =>
    entries.filter(([, { vote }]) => vote === wanted).map(([name]) => name);
  const [approving, rejecting] = [has("approve"), has("reject")];
  const vetoing = rejecting.filter((name) => veto === "anybody" || veto.includes(name));
  if (vetoing.length > 0)
    return { approved: false, reason: `${vetoing.join(", ")} said no, which is a veto` };
  const needed = quorum ?? Math.floor((approving.length + rejecting.length) / 2) + 1;
  const reason = `${approving.length} of ${entries.length} approved, ${needed} needed`;
  return { approved: approving.length >= needed, reason };
}
