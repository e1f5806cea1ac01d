import { expect, it } from "vitest";
import { defaultLayout } from "../../src/checkpoint/layout.js";
import { agentRecord } from "../../src/engine/agent-record.js";
import type { Session } from "../../src/engine/session.js";
import { aCheckpoint, clock } from "../builders.js";

it("the end of what a failed agent printed begins with a whole character", () => {
  const session = { clock, plan: { layout: defaultLayout } } as Session;
  const result = {
    ...{ status: "failed" as const, exitCode: 1, summary: "", outputs: [], notes: null, progress: [] },
    ...{ tokenUsage: { input: 0, output: 0 }, acceptanceCriteria: {}, durationMs: 1 },
    outputTail: `${"😀".repeat(3_000)}x`,
  };
  const { metadata } = agentRecord(session, aCheckpoint(), "coder", result, { code: [], outputs: [] });
  expect(metadata.output_tail).toBe(`${"😀".repeat(1_999)}x`);
});
