import type { Command } from "../commands/command.js";
import type { Phases } from "./standing.js";

export type RefusalCode =
  | "no_permission"
  | "unknown_label"
  | "terminal_label"
  | "busy"
  | "unknown_command"
  | "no_agent"
  | "waiting_for_person"
  | "nothing_to_save"
  | "issue_closed";

export type WaitReason = "label" | "person" | "failed" | "label_removed";

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
  | { readonly kind: "run"; readonly phase: string; readonly phases: Phases }
  | { readonly kind: "pass"; readonly phase: string; readonly phases: Phases; readonly reason: string }
  | { readonly kind: "ask"; readonly phase: string; readonly phases: Phases }
  | { readonly kind: "approve"; readonly phase: string; readonly phases: Phases; readonly by: string }
  | { readonly kind: "give_up"; readonly phase: string; readonly phases: Phases; readonly attempts: number }
  | { readonly kind: "wait"; readonly reason: WaitReason }
  | { readonly kind: "finish" };
