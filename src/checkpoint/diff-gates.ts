import { pairs } from "./changes.js";
import type { Checkpoint, GateResult } from "./schema.js";

export interface GateDiff {
  readonly name: string;
  readonly phase: string;
  /** `changed` is any other change: of what it says, to or from skipped, or that it is gone. */
  readonly kind: "newly_failed" | "newly_passed" | "changed";
  readonly before: GateResult["status"] | null;
  readonly after: GateResult["status"] | null;
  /** What it says now, or said last when it is gone. */
  readonly summary: string;
  /** Why it fails now; null when it does not. */
  readonly details: string | null;
}

const mostLines = 60;
const longestLine = 500;
const order = ["newly_failed", "newly_passed", "changed"] as const;

/** The gates that say something else now, those that fail first. How long they took is no difference. */
export function gateDiffs(before: Checkpoint, after: Checkpoint): GateDiff[] {
  const found = pairs(gatesOf(before), gatesOf(after)).flatMap(({ before: old, after: now }) => {
    const last = now ?? old;
    if (last === null || (old?.status === now?.status && old?.summary === now?.summary)) return [];
    return {
      name: last.name,
      phase: last.phase,
      kind: kindOf(old?.status ?? null, now?.status ?? null),
      before: old?.status ?? null,
      after: now?.status ?? null,
      summary: last.summary,
      details: now?.status === "failed" ? asText(now.details) : null,
    };
  });
  return found.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

function kindOf(before: GateDiff["before"], after: GateDiff["after"]): GateDiff["kind"] {
  if (before === after) return "changed";
  if (after === "failed") return "newly_failed";
  return after === "passed" ? "newly_passed" : "changed";
}

/** A name may be used by several phases, each with a result of its own. */
function gatesOf({ governance_results: results }: Checkpoint): Record<string, GateResult> {
  const all = [...results.quality_gates, ...results.compliance_checks];
  return Object.fromEntries(all.map((gate) => [JSON.stringify([gate.phase, gate.name]), gate]));
}

/** A gate's details are Markdown for a page of their own; here only their text counts, and its end says the most. */
function asText(details: string): string {
  const lines = details.split("\n").filter((line) => !/^`{3,}\w*$/.test(line));
  const end = lines.slice(-mostLines).map((line) => line.slice(0, longestLine));
  return lines.length > mostLines ? ["…", ...end].join("\n") : end.join("\n");
}
