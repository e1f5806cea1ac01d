import type { CommandRunner } from "../ports.js";

/** What a gate may look at. But for the notes, nothing in it comes from what the agent says about itself. */
export interface GateContext {
  readonly directory: string;
  /** The outputs by path in its folder, with what was written there. */
  readonly outputs: ReadonlyMap<string, { readonly sizeBytes: number; readonly isBlank: boolean }>;
  /** What agents wrote for the next one, by role. */
  readonly notes: ReadonlyMap<string, string>;
  readonly commands: CommandRunner;
  readonly signal: AbortSignal;
}

interface GateVerdict {
  readonly status: "passed" | "failed";
  /** One line for a list. */
  readonly summary: string;
  /** Markdown for the check's page. */
  readonly details: string;
}

export interface Gate {
  readonly name: string;
  readonly type: string;
  /** The phase that has to pass it. */
  readonly phase: string;
  readonly timeoutMs: number;
  evaluate(context: GateContext): Promise<GateVerdict>;
}
