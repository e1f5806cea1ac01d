import type { RepositoryDispatch, RunnerStatus, WorkflowDispatch } from "./dispatch-records.js";
import type { FaultPlan } from "./faults.js";
import type { Role } from "./identities.js";
import type { RequestLog } from "./request-log.js";
import type { SeedFiles } from "./seed.js";
import type { Delivery, WebhookTarget } from "./webhooks.js";

export interface EmbeddedGitHubOptions {
  /** Default 0: any free one. */
  readonly port?: number;
  /** The user who owns the repository, as admin. */
  readonly owner: string;
  readonly repo: string;
  /** The first commit on `main`. */
  readonly files: SeedFiles;
  /** Who else there is, with which role; each gets a token. */
  readonly people?: Readonly<Record<string, Role>>;
  /** Default `crunch`. */
  readonly appSlug?: string;
  readonly webhook?: WebhookTarget;
}

export interface EmbeddedGitHub {
  /** The REST base URL; in a browser, the repository. */
  readonly url: string;
  readonly owner: string;
  readonly repo: string;
  readonly app: {
    readonly id: number;
    readonly slug: string;
    readonly privateKey: string;
    readonly installationId: number;
  };
  tokenFor(login: string): string;
  /** Acts as `github-actions[bot]`: what `GITHUB_TOKEN` is on a runner. */
  readonly actionsToken: string;
  setWebhook(target: WebhookTarget | null): void;
  readonly requests: RequestLog;
  readonly deliveries: readonly Delivery[];
  /** The same GUID, the same body. */
  redeliver(id: string): Promise<void>;
  deliver(
    event: string,
    payload: unknown,
    how?: { id?: string; signature?: "bad" | "missing" },
  ): Promise<{ status: number }>;
  /** Resolves once every webhook so far has been answered or given up. */
  deliveriesSettled(): Promise<void>;
  readonly faults: FaultPlan;
  readonly dispatches: readonly RepositoryDispatch[];
  readonly workflowDispatches: readonly WorkflowDispatch[];
  /** What `GET /repos/:owner/:repo/actions/runs/:run` answers. */
  setRunnerRun(runId: number, status: RunnerStatus): void;
  close(): Promise<void>;
}
