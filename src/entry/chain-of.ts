import { createFileStore } from "../adapters/fs/checkpoint-store.js";
import { createGitHubStore } from "../adapters/github/checkpoint-store.js";
import { createClient } from "../adapters/github/client.js";
import { openLocalGit } from "../adapters/local/git.js";
import { createLayout } from "../checkpoint/layout.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore } from "../ports.js";

export interface NamedChain {
  readonly store: CheckpointStore;
  readonly issue: number;
}

/** The chain of an issue that a person named: `octo/durations#1` on GitHub, or just `1` in this checkout. */
export async function chainOf(
  name: string,
  where: { readonly storageBranch: string; readonly storageLocation: string },
  env: NodeJS.ProcessEnv,
): Promise<NamedChain> {
  const match = /^(?:([\w.-]+)\/([\w.-]+)#)?([1-9]\d{0,9})$/.exec(name);
  if (!match) {
    throw new CrunchError({
      code: "issue_invalid",
      message: `"${name}" names no issue.`,
      hint: "Write it as owner/repo#number, for example octo/durations#1, or as a number for one of this checkout.",
    });
  }
  const [, owner, repo, number] = match;
  const storage = { layout: createLayout(where.storageLocation) };
  const issue = Number(number);
  if (owner === undefined || repo === undefined) {
    const { root } = await openLocalGit(process.cwd());
    return { store: createFileStore(root, { storage }), issue };
  }
  const baseUrl = env.GITHUB_API_URL ?? "https://api.github.com";
  if (!env.GITHUB_TOKEN) {
    throw new CrunchError({
      code: "no_token",
      message: "There is no token to read the repo with.",
      hint: "Set GITHUB_TOKEN to one that may read its contents.",
    });
  }
  const octokit = createClient({ baseUrl, token: env.GITHUB_TOKEN });
  const repository = { octokit, owner, repo, defaultBranch: "" };
  return { store: createGitHubStore(repository, where.storageBranch, { storage }), issue };
}
