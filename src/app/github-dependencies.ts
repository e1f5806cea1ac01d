import { createCheckReporter } from "../adapters/github/check-reporter.js";
import { createGitHubStore } from "../adapters/github/checkpoint-store.js";
import { createCodeHost } from "../adapters/github/code-host.js";
import { readFileAt } from "../adapters/github/git-data.js";
import { createIssueTracker } from "../adapters/github/issue-tracker.js";
import type { Repository } from "../adapters/github/repository.js";
import { runStatus } from "../adapters/github/run-status.js";
import { fetchTarball } from "../adapters/github/tarball.js";
import { verifyFiles } from "../adapters/github/true-files.js";
import { createLivenessProbe } from "../adapters/liveness.js";
import { createCommandRunner } from "../adapters/process/command-runner.js";
import { createWorkspaceProvider } from "../adapters/workspace/workspace-provider.js";
import type { Holder } from "../checkpoint/schema.js";
import type { Log } from "../ports.js";
import type { Dependencies } from "./dependencies.js";
import type { Authority } from "./plan.js";
import type { Slots } from "./slots.js";

export interface GitHubDependenciesOptions {
  readonly repository: Repository;
  /** Who Crunch is on GitHub: `crunch[bot]`. */
  readonly ownLogin: string;
  /** Logins besides that of people whose access GitHub tells: see `trustedBots`. */
  readonly trusted?: readonly string[];
  readonly authority: Authority;
  readonly holder: Holder;
  readonly slots: Slots;
  readonly redact: (text: string) => string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The checkout to work in on a runner; null where a new folder is made. */
  readonly checkout: { readonly directory: string; readonly sha: string | null } | null;
}

/** Wires everything to one repo on GitHub. */
export function createGitHubDependencies(options: GitHubDependenciesOptions): Dependencies {
  const { repository, holder, authority, slots, redact, log, signal, checkout } = options;
  const ownRun = holder.kind === "actions" ? { runId: holder.run_id, attempt: holder.run_attempt } : null;
  const inPlace = checkout === null ? {} : { directory: checkout.directory, checkoutSha: checkout.sha };
  return {
    repository: `${repository.owner}/${repository.repo}`,
    tracker: createIssueTracker(repository, { ownLogin: options.ownLogin, trusted: options.trusted ?? [] }),
    code: createCodeHost(repository),
    checks: createCheckReporter(repository),
    workspaces: createWorkspaceProvider({
      fetchTarball: (sha) => fetchTarball(repository, sha),
      verifyFiles: (sha, directory) => verifyFiles(repository, sha, directory),
      ...inPlace,
    }),
    commands: createCommandRunner({ redact }),
    liveness: createLivenessProbe({ runStatus: (runId) => runStatus(repository, runId), self: ownRun }),
    readFile: async (path) => {
      const content = await readFileAt(repository, path, repository.defaultBranch);
      return content?.toString("utf8") ?? null;
    },
    openStore: (branchTemplate, storage) => createGitHubStore(repository, branchTemplate, { storage }),
    clock: { now: () => new Date() },
    ...{ authority, holder, slots, redact, log, signal },
  };
}
