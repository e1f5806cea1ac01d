import { Octokit } from "@octokit/rest";
import { CrunchError } from "../../errors.js";

export interface ClientOptions {
  readonly baseUrl: string;
  readonly token: string | (() => Promise<string>);
  readonly sleep?: (ms: number) => Promise<void>;
  readonly onRetry?: (message: string) => void;
}

const longestWaitMs = 15 * 60_000;
const tries = 5;

/**
 * The one GitHub client. Reads are repeated on faults; writes only when GitHub says that it refused them (a rate
 * limit), because after any other fault nobody knows whether the write took place: the caller finds out first.
 */
export function createClient(options: ClientOptions): Octokit {
  const octokit = new Octokit({
    baseUrl: options.baseUrl,
    userAgent: "crunch",
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  withPolicy(octokit, options);
  return octokit;
}

function withPolicy(octokit: Octokit, options: ClientOptions): void {
  const sleep = options.sleep ?? ((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)));
  octokit.hook.wrap("request", async (request, requestOptions) => {
    const token = typeof options.token === "string" ? options.token : await options.token();
    requestOptions.headers.authorization = `token ${token}`;
    for (let attempt = 1; ; attempt++) {
      try {
        return await request(requestOptions);
      } catch (error) {
        const waitMs = retryAfterMs(error, requestOptions.method, attempt);
        if (waitMs === null || attempt === tries || waitMs > longestWaitMs) throw error;
        options.onRetry?.(`GitHub: ${requestOptions.method} ${requestOptions.url} again in ${Math.ceil(waitMs / 1000)} s`);
        await sleep(waitMs);
      }
    }
  });
}

function retryAfterMs(error: unknown, method: string, attempt: number): number | null {
  const status = statusOf(error);
  if (status === 403 || status === 429) return rateLimitWaitMs(error, attempt);
  const isFault = status === null || status >= 500;
  return isFault && method === "GET" ? 250 * 2 ** attempt : null;
}

/** `Retry-After` if given; else until the reset; else, for a secondary limit, a minute, growing. */
function rateLimitWaitMs(error: unknown, attempt: number): number | null {
  const headers = headersOf(error);
  const retryAfter = Number(headers["retry-after"]);
  if (headers["retry-after"] !== undefined && Number.isFinite(retryAfter)) return retryAfter * 1000;
  if (headers["x-ratelimit-remaining"] === "0") {
    return Math.max(1000, Number(headers["x-ratelimit-reset"]) * 1000 - Date.now() + 1000);
  }
  return /rate limit/i.test(error instanceof Error ? error.message : "") ? 60_000 * 2 ** (attempt - 1) : null;
}

function headersOf(error: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof error === "object" && error !== null && "response" in error) {
    const response = error.response as { headers?: Record<string, string> } | undefined;
    return response?.headers ?? {};
  }
  return {};
}

/** The HTTP status of a failed request; null when no answer came (a timeout, a reset). */
export function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("status" in error)) return null;
  const hasAnswer = "response" in error && error.response !== undefined;
  return hasAnswer && typeof error.status === "number" ? error.status : null;
}

/** Null for a 404, else what `request` gave. */
export async function orNull<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** Whether nobody can tell if the write took place: a lost answer or a fault of the server. */
export function isUncertain(error: unknown): boolean {
  const status = statusOf(error);
  return !(error instanceof CrunchError) && (status === null || status >= 500);
}
