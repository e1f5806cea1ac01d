import type { Freshness } from "../checkpoint/freshness.js";
import type { Command } from "../commands/command.js";
import type { Phases } from "./standing.js";

/** What keeps a repo from running anything: its own configuration, or what the bot's operator allows. */
export interface Obstacle {
  readonly code: "config_invalid" | "not_allowed" | "disabled";
  readonly detail: string;
}

export type RefusalCode =
  | "no_permission"
  | "unknown_label"
  | "terminal_label"
  | "busy"
  | "unknown_command"
  | "no_agent"
  | "config_invalid"
  | "not_allowed"
  | "disabled"
  | "waiting_for_person"
  | "nothing_to_save"
  | "nothing_to_resume"
  | "unknown_checkpoint"
  | "branch_deleted"
  | "nothing_asked"
  | "not_an_answer"
  | "issue_closed";

export type WaitReason = "label" | "person" | "failed" | "label_removed" | "rolled_back" | "stale" | "retry";

/** What is to be done about an event. `execute` carries it out; nothing has happened yet. */
export type Decision =
  /** Nothing for anybody to see. */
  | { readonly kind: "ignore"; readonly reason: string }
  /** A person asked for something that is not done, and is told why. */
  | {
      readonly kind: "refuse";
      readonly code: RefusalCode;
      readonly detail: string;
      /** The label that asked for it, to be taken off again. */
      readonly removeLabel: string | null;
      /** A label somebody took off without the right to, to be put back. */
      readonly restoreLabel: string | null;
    }
  | { readonly kind: "answer"; readonly command: Command }
  | { readonly kind: "save"; readonly note: string | null }
  /** Shows what a resume would restore, and restores nothing. */
  | { readonly kind: "preview"; readonly id: string | null }
  | { readonly kind: "compare"; readonly before: string; readonly after: string }
  | { readonly kind: "rollback"; readonly id: string; readonly goesOn: boolean }
  /** Asks a person whether to go on in a world that has changed. */
  | { readonly kind: "pause"; readonly freshness: Freshness }
  | {
      readonly kind: "run";
      readonly phase: string;
      readonly phases: Phases;
      /** A new run on the same issue, which takes nothing over from the one before. */
      readonly isRestart?: boolean;
      /** What failed is tried again: tasks that are complete stay so. */
      readonly again?: boolean;
    }
  | { readonly kind: "pass"; readonly phase: string; readonly phases: Phases; readonly reason: string }
  | {
      readonly kind: "ask";
      readonly phase: string;
      readonly phases: Phases;
      /** What was asked about has changed since, so that an answer to it does not count. */
      readonly isAgain?: boolean;
    }
  | { readonly kind: "approve"; readonly phase: string; readonly phases: Phases; readonly by: string }
  /** A person's answer to what the phase asks. */
  | {
      readonly kind: "respond";
      readonly phase: string;
      readonly phases: Phases;
      readonly by: string;
      readonly response: string;
    }
  /** A time has come: for the next try of a phase, or for a question that nobody answered. */
  | { readonly kind: "proceed"; readonly phase: string; readonly phases: Phases; readonly again: true }
  /** An answer that is written down while a session works on something else; that one carries it out. */
  | {
      readonly kind: "note";
      readonly phase: string;
      readonly response: string;
      readonly by: string;
      /** When the question was asked that it answers. */
      readonly askedAt: string;
    }
  | { readonly kind: "give_up"; readonly phase: string; readonly phases: Phases; readonly attempts: number }
  | { readonly kind: "wait"; readonly reason: WaitReason }
  | { readonly kind: "finish" };

const steps = ["run", "pass", "ask", "approve", "respond", "proceed", "give_up"] as const;

/** A decision that adds a checkpoint to the chain and may lead to the next. */
export type Step = Extract<Decision, { kind: (typeof steps)[number] }>;

export function isStep(decision: Decision): decision is Step {
  return (steps as readonly string[]).includes(decision.kind);
}
