import type { Octokit } from "@octokit/rest";

/** A repo and the client to reach it with. */
export interface Repository {
  readonly octokit: Octokit;
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string;
}

/** The two names every route begins with. */
export function named(repository: Repository) {
  return { owner: repository.owner, repo: repository.repo };
}
