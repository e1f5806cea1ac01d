import { z } from "zod";
import type { Checkpoint, GateResult } from "../checkpoint/schema.js";
import type { Json } from "./imported.js";
import type { OrchestratorAgent } from "./orchestrator-schema.js";
import { Time } from "./outside.js";

/** The orchestrator names these records and leaves their fields open. What is recognised is used; the originals are kept. */
export function toolInvocation(value: Json): Checkpoint["agent_states"][string]["tool_invocations"][number] {
  return {
    tool: textIn(value, "tool", "name", "tool_name") ?? (typeof value === "string" ? value : "unknown"),
    at: timeIn(value, "at", "timestamp", "started_at", "created_at"),
    summary: textIn(value, "summary", "description", "command", "result") ?? "",
  };
}

export function gateResult(value: Json, phase: string): GateResult {
  return {
    name: textIn(value, "name", "gate", "check", "id") ?? "gate",
    type: textIn(value, "type") ?? "imported",
    phase,
    status: gateStatus(value),
    summary: textIn(value, "summary", "message", "reason") ?? "",
    details: textIn(value, "details", "output") ?? "",
    duration_ms: z.number().int().nonnegative().catch(0).parse(fieldOf(value, "duration_ms")),
  };
}

/** The fields of an agent's state that ours has no place for. */
export function restOfAgent(agent: OrchestratorAgent): Record<string, Json> {
  const { status: _status, summary: _summary, token_usage, tool_invocations, ...rest } = agent;
  const { input: _input, output: _output, ...usage } = token_usage;
  return {
    ...rest,
    ...(tool_invocations.length > 0 ? { tool_invocations } : {}),
    ...(Object.keys(usage).length > 0 ? { token_usage: usage } : {}),
  };
}

/** The first of the fields that is there and is text. */
export function textIn(value: Json, ...names: readonly string[]): string | null {
  for (const name of names) {
    const found = fieldOf(value, name);
    if (typeof found === "string" && found !== "") return found;
  }
  return null;
}

function timeIn(value: Json, ...names: readonly string[]): string | null {
  const parsed = Time.safeParse(textIn(value, ...names));
  return parsed.success ? parsed.data : null;
}

function gateStatus(value: Json): GateResult["status"] {
  const passed = fieldOf(value, "passed");
  if (typeof passed === "boolean") return passed ? "passed" : "failed";
  const word = textIn(value, "status", "result", "outcome")?.toLowerCase() ?? "skipped";
  if (["passed", "pass", "success", "ok", "approved"].includes(word)) return "passed";
  return ["skipped", "neutral", "not_run", "pending"].includes(word) ? "skipped" : "failed";
}

function fieldOf(value: Json, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
