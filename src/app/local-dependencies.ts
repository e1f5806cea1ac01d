import { userInfo } from "node:os";
import { basename } from "node:path";
import { createLivenessProbe, thisProcess } from "../adapters/liveness.js";
import { createLocalCheckReporter, type OnCheck } from "../adapters/local/check-reporter.js";
import { checkedOut, createLocalCodeHost } from "../adapters/local/code-host.js";
import type { OnComment } from "../adapters/local/comments.js";
import { openLocalGit } from "../adapters/local/git.js";
import { createLocalIssueTracker } from "../adapters/local/issue-tracker.js";
import { readLocalFile } from "../adapters/local/read-file.js";
import { createLocalWorkspaces } from "../adapters/local/workspaces.js";
import { createCommandRunner } from "../adapters/process/command-runner.js";
import type { Log } from "../ports.js";
import type { Dependencies } from "./dependencies.js";
import { createSlots } from "./slots.js";

export interface LocalDependenciesOptions {
  /** A folder of the checkout. */
  readonly root: string;
  readonly store: Dependencies["openStore"];
  readonly redact: (text: string) => string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onComment: OnComment;
  readonly onCheck: OnCheck;
}

/** Wires everything to one git checkout: no GitHub, no network. */
export async function createLocalDependencies(options: LocalDependenciesOptions): Promise<Dependencies> {
  const { redact, log, signal } = options;
  const git = await openLocalGit(options.root);
  // Taken once: the person may switch branches while agents work.
  const defaultBranch = await checkedOut(git);
  const code = createLocalCodeHost(git, { defaultBranch });
  return {
    repository: `local/${basename(git.root).replace(/[^A-Za-z0-9._-]/g, "-") || "checkout"}`,
    tracker: createLocalIssueTracker({ root: git.root, onComment: options.onComment }),
    code,
    checks: createLocalCheckReporter(options.onCheck),
    workspaces: createLocalWorkspaces(git),
    commands: createCommandRunner({ redact }),
    liveness: createLivenessProbe({ runStatus: async () => null, self: null }),
    readFile: async (path) => {
      const head = await code.head(defaultBranch);
      const content = head && (await readLocalFile(git, head.sha, path));
      return content?.toString("utf8") ?? null;
    },
    openStore: options.store,
    // Who runs Crunch in a checkout has chosen to trust it, as with any build.
    authority: { kind: "repo" },
    holder: thisProcess(),
    slots: createSlots(1),
    clock: { now: () => new Date() },
    ...{ redact, log, signal },
  };
}

/** Whom the events of a local run name as their actor. */
export function localUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return "local";
  }
}
