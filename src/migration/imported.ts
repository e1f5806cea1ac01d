import type { Maker } from "../checkpoint/create.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";

export type Json = Checkpoint["metadata"][string];

/** The files of an older layout, by their path in the folder they were read from. */
export type SourceFiles = ReadonlyMap<string, Buffer>;

export interface ImportOptions {
  readonly issue: number;
  readonly maker: Maker;
  /** The issue and its base as they are now: the older layouts do not tell. */
  readonly snapshot?: Checkpoint["issue_snapshot"];
}

export interface Imported {
  /** A chain in its order: each one's parent is the one before, but for a rollback's. */
  readonly checkpoints: readonly Checkpoint[];
  /** What comes with each checkpoint, by its id: artifacts and notes, paths relative to the issue's folder. */
  readonly files: ReadonlyMap<string, readonly FileChange[]>;
  /** What was left out or looks wrong, for a person to read. */
  readonly problems: readonly string[];
}

/** One older layout: which files are its own, and what they become. */
export interface Layout {
  readonly name: string;
  /** Whether a file shows that the folder has this layout. */
  readonly marks: (path: string) => boolean;
  readonly read: (files: SourceFiles, options: ImportOptions) => Imported;
}
