import type { z } from "zod";
import type { TokenUsage } from "../checkpoint/schema.js";

export type Json = z.core.util.JSONType;

/** What the agent is given, as JSON. docs/agent-contract.md describes every field. */
export interface AgentContext {
  readonly protocol: 1;
  readonly repository: string;
  readonly phase: string;
  readonly phase_version: number;
  readonly attempt: number;
  readonly issue: {
    readonly number: number;
    readonly title: string;
    readonly body: string;
    readonly labels: readonly string[];
    readonly url: string;
  };
  readonly workspace: string;
  readonly output_folder: string;
  readonly checkpoint_id: string;
  readonly task: {
    /** `work` for a phase with one task. */
    readonly name: string;
    readonly does: string;
    /** Whose notes it continues. */
    readonly role: string;
    /** A voter gives `vote` in its result; its files are not taken. */
    readonly kind: "work" | "vote";
    /** What `for_each` gave for it; null without. */
    readonly item: Json;
  };
  /** The workflow's data. */
  readonly state: Readonly<Record<string, Json>>;
  readonly previous: {
    readonly summaries: Readonly<Record<string, string>>;
    readonly notes: string | null;
    readonly error: string | null;
    readonly gates: readonly { readonly name: string; readonly summary: string; readonly details: string }[];
  };
}

export interface AgentResult {
  readonly status: "succeeded" | "failed" | "timed_out" | "interrupted";
  readonly exitCode: number | null;
  readonly summary: string;
  readonly outputs: readonly { readonly name: string; readonly path: string; readonly summary: string }[];
  readonly tokenUsage: TokenUsage;
  readonly acceptanceCriteria: Readonly<Record<string, boolean>>;
  /** What it gave for the conditions of the workflow. */
  readonly data?: Json;
  /** What a voter decided. */
  readonly vote?: "approve" | "reject" | "abstain";
  readonly notes: string | null;
  readonly progress: readonly AgentProgress[];
  /** The end of what it printed, for a person to read when it failed. */
  readonly outputTail: string;
  readonly durationMs: number;
}

export interface AgentProgress {
  readonly at: string;
  readonly message: string;
  readonly percent: number | null;
}

/** A look at an agent that is still working. */
export interface LiveAgent {
  notes(): Promise<string | null>;
}

export interface AgentRunner {
  run(options: {
    readonly context: AgentContext;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly onProgress: (progress: AgentProgress, live: LiveAgent) => void;
  }): Promise<AgentResult>;
}
