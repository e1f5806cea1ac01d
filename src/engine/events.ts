import type { Command } from "../commands/command.js";

/** Something that happened on an issue, or a start of Crunch itself. */
export type CrunchEvent = {
  readonly issue: number;
  /** The same for every delivery of the same happening. */
  readonly key: string;
} & (
  | { readonly kind: "labeled"; readonly label: string; readonly actor: string }
  | { readonly kind: "unlabeled"; readonly label: string; readonly actor: string }
  | {
      readonly kind: "command";
      readonly command: Command;
      readonly actor: string;
      /** Where to answer with a reaction; null for a dispatch. */
      readonly commentId: number | null;
    }
  | {
      readonly kind: "bad_command";
      readonly problem: string;
      readonly actor: string;
      readonly commentId: number | null;
    }
  /** Crunch has started and found this issue's run. */
  | { readonly kind: "started" }
);

const handledKept = 50;

/** The keys of the events a run has heard of, this one included. Old ones are dropped: nobody delivers them again. */
export function withHandled(handled: readonly string[], key: string): string[] {
  return [...handled.filter((each) => each !== key), key].slice(-handledKept);
}
