import type { Permission } from "../ports.js";

/** What a person asked for in a comment, or through a dispatch. */
export type Command =
  | { readonly name: "run" }
  | { readonly name: "checkpoint"; readonly note: string | null }
  | { readonly name: "status" }
  | {
      readonly name: "resume";
      /** Null for the latest. */
      readonly checkpoint: string | null;
      readonly isDryRun: boolean;
      /** The person has seen how the text changed, and wants to go on. */
      readonly isAccepted: boolean;
      /** What to do about changes of others on the code branch. */
      readonly keep: "theirs" | "mine" | null;
    }
  | { readonly name: "rollback"; readonly checkpoint: string }
  | { readonly name: "diff"; readonly before: string; readonly after: string }
  | { readonly name: "restart" }
  /** Answers to what a phase asks; the id says which checkpoint asked it, null for the only question there is. */
  | { readonly name: "approve" | "reject"; readonly checkpoint: string | null }
  | { readonly name: "answer"; readonly checkpoint: string | null; readonly text: string };

export type Parsed =
  | { readonly status: "ok"; readonly command: Command }
  | { readonly status: "unknown"; readonly problem: string };

/** One slash command: how it is written, who may use it, and what its words mean. */
export interface CommandDefinition {
  readonly usage: string;
  readonly help: string;
  readonly permission: Permission;
  /** The words that name it, before its arguments; empty for the bare `/crunch`. */
  readonly words: readonly string[];
  parse(rest: string): Parsed;
}
