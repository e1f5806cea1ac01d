import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/rest";
import { createClient } from "./client.js";

export interface InstalledRepository {
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string;
  readonly installationId: number;
}

/** Crunch as a GitHub App: who it is, where it is installed, and a client for each installation. */
export interface GitHubApp {
  /** Its login on GitHub: `crunch[bot]`. */
  login(): Promise<string>;
  /** A client whose token is renewed when it gets old: they live for an hour, phases for longer. */
  client(installationId: number): Octokit;
  /** The installations that work; suspended ones have no token. */
  installations(): Promise<readonly number[]>;
  repositoriesOf(installationId: number): Promise<readonly InstalledRepository[]>;
}

export interface GitHubAppOptions {
  readonly appId: number;
  readonly privateKey: string;
  readonly apiUrl: string;
  readonly onRetry?: (message: string) => void;
  readonly signal?: AbortSignal;
}

export function createGitHubApp(given: GitHubAppOptions): GitHubApp {
  const { appId, privateKey, apiUrl, onRetry, signal } = given;
  const auth = createAppAuth({ appId, privateKey, request: new Octokit({ baseUrl: apiUrl }).request });
  const options = { baseUrl: apiUrl, ...(onRetry ? { onRetry } : {}), ...(signal ? { signal } : {}) };
  const clients = new Map<number, Octokit>();
  const asApp = createClient({
    ...options,
    scheme: "bearer",
    token: async () => (await auth({ type: "app" })).token,
  });

  function client(installationId: number): Octokit {
    const known = clients.get(installationId);
    if (known) return known;
    const token = async () => (await auth({ type: "installation", installationId })).token;
    const created = createClient({ ...options, token });
    clients.set(installationId, created);
    return created;
  }

  async function installations(): Promise<number[]> {
    const all = await pages(
      async (page) => (await asApp.apps.listInstallations({ per_page: 100, page })).data,
    );
    return all.filter(({ suspended_at }) => !suspended_at).map(({ id }) => id);
  }

  async function repositoriesOf(installationId: number): Promise<InstalledRepository[]> {
    return pages(async (page) => {
      const { data } = await client(installationId).apps.listReposAccessibleToInstallation({
        per_page: 100,
        page,
      });
      return data.repositories.map(({ owner, name, default_branch }) => ({
        ...{ owner: owner.login, repo: name, defaultBranch: default_branch, installationId },
      }));
    });
  }

  return {
    async login() {
      const { data } = await asApp.apps.getAuthenticated();
      return `${data?.slug}[bot]`;
    },
    client,
    installations,
    repositoriesOf,
  };
}

async function pages<T>(read: (page: number) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const some = await read(page);
    all.push(...some);
    if (some.length < 100) return all;
  }
}
