import type { IndexEntry } from "./checkpoint/index-entry.js";
import type { RetentionPolicy } from "./checkpoint/retention.js";
import type { Checkpoint, Lease } from "./checkpoint/schema.js";

export type * from "./ports/agents.js";

/** What a file of the workspace or of the issue's folder became. `content: null` means deleted. */
export interface FileChange {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  readonly content: Buffer | null;
  readonly status: "added" | "modified" | "deleted";
}

export type PutResult =
  | { readonly status: "stored"; readonly commit: string }
  /** Somebody else's checkpoint came first; `latest` is theirs. */
  | { readonly status: "conflict"; readonly latest: Checkpoint | null };

export interface PutOptions {
  /**
   * The checkpoint that is the latest, as far as the caller knows: the put is refused when another one is by then. It
   * is also the new one's parent, except that a rollback's parent is the checkpoint it goes back to.
   */
  readonly expectedLatest: string | null;
  /** Files of the issue's folder, paths relative to it (`spec.md`, `notes/builder.md`). */
  readonly files?: readonly FileChange[];
  /** Kept reachable as the second parent of the checkpoint's commit. */
  readonly codeCommit?: string | null;
  /** Which older checkpoints the put takes away; without a policy, none. */
  readonly retention?: RetentionPolicy;
}

/** The chain of one issue's checkpoints. A put is atomic: all of it becomes the latest, or nothing. */
export interface CheckpointStore {
  latest(issue: number): Promise<Checkpoint | null>;
  load(issue: number, id: string): Promise<Checkpoint | null>;
  /** The checkpoints in the order they were stored; with `removed` also those that retention took away. */
  list(issue: number, options?: { readonly removed?: boolean }): Promise<readonly IndexEntry[]>;
  put(checkpoint: Checkpoint, options: PutOptions): Promise<PutResult>;
  /** A file of the issue's folder as of the latest checkpoint. */
  readFile(issue: number, path: string): Promise<Buffer | null>;
  /** The issues that have a chain. */
  issues(): Promise<readonly number[]>;
}

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  readonly isOpen: boolean;
  readonly url: string;
}

export type Permission = "admin" | "write" | "triage" | "read" | "none";

export interface IssueTracker {
  issue(number: number): Promise<Issue>;
  /** The open issues that have at least one of these labels. */
  openIssues(labels: readonly string[]): Promise<readonly Issue[]>;
  permissionOf(login: string): Promise<Permission>;
  /** Who added a label that is on the issue, and when; null when that can't be told, or it was Crunch. */
  labeledBy(issue: number, label: string): Promise<{ readonly login: string; readonly at: string } | null>;
  addLabel(issue: number, label: string): Promise<void>;
  removeLabel(issue: number, label: string): Promise<void>;
  /** Creates or edits the comment that carries `marker`, and returns its id. A known id saves the search. */
  upsertComment(issue: number, marker: string, body: string, knownId: number | null): Promise<number>;
  /** Posts the comment unless one with its marker is there already. */
  replyOnce(issue: number, marker: string, body: string): Promise<"posted" | "already there">;
  react(commentId: number, reaction: "eyes" | "+1" | "-1" | "confused"): Promise<void>;
}

export interface CheckRun {
  readonly name: string;
  readonly externalId: string;
  readonly conclusion: "success" | "failure" | "neutral";
  readonly title: string;
  readonly summary: string;
}

export interface CheckReporter {
  /**
   * With `fresh` the caller knows that nothing was reported for this head before, which saves the search. Only Apps
   * may write checks: for any other token the answer is `forbidden`.
   */
  report(
    headSha: string,
    runs: readonly CheckRun[],
    options: { readonly fresh: boolean },
  ): Promise<"reported" | "forbidden">;
}

export interface CodeChange {
  readonly path: string;
  readonly status: "added" | "modified" | "deleted" | "renamed";
  readonly patch: string | null;
}

/** The code of the issue: its branch and its pull request. */
export interface CodeHost {
  readonly defaultBranch: string;
  /** The commit and tree a branch points to, or null when there is no such branch. */
  head(branch: string): Promise<{ readonly sha: string; readonly tree: string } | null>;
  /** A commit that is known to exist, with its tree. */
  commit(sha: string): Promise<{ readonly sha: string; readonly tree: string }>;
  prepareCommit(options: {
    readonly parent: { readonly sha: string; readonly tree: string };
    readonly changes: readonly FileChange[];
    readonly message: string;
  }): Promise<{ readonly sha: string; readonly tree: string }>;
  /** A commit on top of `parent` that has the files of another commit again. Nothing is forced or lost. */
  prepareRestore(options: {
    readonly parent: string;
    readonly filesOf: string;
    readonly message: string;
  }): Promise<{ readonly sha: string; readonly tree: string }>;
  /** What differs between two commits; patches may be missing for large or binary files. */
  changesBetween(from: string, to: string): Promise<readonly CodeChange[]>;
  /** Moves the branch from where it is thought to be (null: nowhere yet) to the commit. Never forces. */
  moveBranch(branch: string, to: string, from: string | null): Promise<"moved" | "diverged">;
  /**
   * Opens the branch's pull request, or finds it; null when the branch has nothing that its base lacks. Repos may
   * forbid Crunch to open any: then the answer is `forbidden`, unless a person has opened it.
   */
  openPullRequest(options: {
    readonly branch: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
  }): Promise<number | null | "forbidden">;
}

/** A folder with the repo's files at one commit, for the agent to work in. */
export interface Workspace {
  readonly directory: string;
  /** The commit the files were taken from, before the agent's changes. */
  readonly baseSha: string;
  /** Puts files there that the agent is to find, and that do not count as its changes. */
  seed(files: readonly { readonly path: string; readonly content: Buffer }[]): Promise<void>;
  /** Makes changes there that count as the agent's own. */
  apply(changes: readonly FileChange[]): Promise<void>;
  /** A file as it was before the agent's changes; null when there was none. */
  contentBefore(path: string): Promise<Buffer | null>;
  /** What differs from the commit the workspace was opened at. */
  changes(): Promise<readonly FileChange[]>;
  /** Paths of files that are no longer as `changes` last found them; files that are new since are not among them. */
  touched(): Promise<readonly string[]>;
  /**
   * The files as `changes` last found them become the commit `sha`: later changes are counted from here. What was done
   * to them since, by gates for example, is undone.
   */
  settle(sha: string): Promise<void>;
  close(): Promise<void>;
}

export interface WorkspaceProvider {
  /** Files in `outputFolder` count as changes even where `.gitignore` hides them. */
  open(sha: string, options: { readonly outputFolder: string }): Promise<Workspace>;
}

/** Runs one command in the workspace, without a shell and without any token. For gates. */
export interface CommandRunner {
  run(options: {
    readonly argv: readonly string[];
    readonly directory: string;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<CommandResult>;
}

export interface CommandResult {
  readonly status: "exited" | "timed_out" | "interrupted" | "not_started";
  readonly exitCode: number | null;
  readonly output: string;
  readonly durationMs: number;
}

/** Tells whether the session that holds a lease is proven dead. "unknown" is treated as alive. */
export interface LivenessProbe {
  probe(lease: Lease): Promise<"alive" | "dead" | "unknown">;
}

export interface Clock {
  now(): Date;
}

export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
