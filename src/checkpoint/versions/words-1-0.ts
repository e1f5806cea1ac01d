import type { Checkpoint } from "../schema.js";

type Json = Checkpoint["metadata"][string];
type NodeStatus = Checkpoint["execution_graph"]["node_states"][string]["status"];
type FileStatus = Checkpoint["files_modified"][number]["status"];

export const nodeStatus: Readonly<Record<string, NodeStatus>> = {
  ...{ pending: "pending", blocked: "pending", queued: "pending" },
  ...{ running: "running", in_progress: "running", active: "running" },
  ...{ complete: "complete", completed: "complete", done: "complete", success: "complete" },
  ...{ failed: "failed", error: "failed", skipped: "skipped" },
};

export const fileStatus: Readonly<Record<string, FileStatus>> = {
  ...{ added: "added", created: "added", new: "added", untracked: "added" },
  ...{ modified: "modified", changed: "modified", deleted: "deleted", removed: "deleted" },
};

/** Puts the words of version 1.0 into ours, and keeps each one that this changes, by its place. */
export function createWords() {
  const original: Record<string, Json> = {};
  return {
    translate<T extends string>(
      place: string,
      word: string,
      known: Readonly<Record<string, T>>,
      other: T,
    ): T {
      const translated = Object.hasOwn(known, word) ? (known[word] ?? other) : other;
      if (translated !== word) original[place] = word;
      return translated;
    },
    /** In UTC, as all times of version 1.1 are. */
    time(place: string, text: string): string {
      if (text.endsWith("Z")) return text;
      original[place] = text;
      return new Date(text).toISOString();
    },
    /** A result of a task was any value. */
    text(place: string, value: Json): string | null {
      if (value === null || typeof value === "string") return value;
      original[place] = value;
      return JSON.stringify(value);
    },
    kept: () => (Object.keys(original).length === 0 ? {} : { original }),
  };
}
