import { createHash } from "node:crypto";
import type { GateResult } from "../checkpoint/schema.js";
import type { CheckRun } from "../ports.js";

const conclusions = { passed: "success", failed: "failure", skipped: "neutral" } as const;

/** A gate's result as a check run. Its external id names exactly this result, so that it is never shown twice. */
export function renderCheck(gate: GateResult, runId: string): CheckRun {
  const { name, phase, status, summary, details } = gate;
  const hash = createHash("sha256").update(JSON.stringify([runId, name, phase, status, summary, details]));
  return {
    name: `crunch / ${name}`,
    externalId: `crunch:${hash.digest("hex").slice(0, 32)}`,
    conclusion: conclusions[status],
    title: summary,
    summary: `Gate of the phase \`${phase}\`, computed by Crunch.\n\n${details}`,
  };
}
