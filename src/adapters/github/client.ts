import { setTimeout as delay } from "node:timers/promises";
import { Octokit } from "@octokit/rest";
import { CrunchError } from "../../errors.js";

export interface ClientOptions {
  readonly baseUrl: string;
  readonly token: string | (() => Promise<string>);
  /** `bearer` for the JWT of an App. */
  readonly scheme?: "token" | "bearer";
  /** Ends every wait: a process that is told to stop has only seconds. */
  readonly signal?: AbortSignal;
  readonly sleep?: (ms: number) => Promise<void>;
  readonly onRetry?: (message: string) => void;
}

/** Limits are given anew every hour; the rest is for clocks that differ. */
const longestWaitMs = 70 * 60_000;
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
  const { signal } = options;
  const sleep = options.sleep ?? ((ms: number) => unlessAborted(ms, signal));
  octokit.hook.wrap("request", async (request, requestOptions) => {
    for (let attempt = 1; ; attempt++) {
      // Asked before each try: an installation's token may end during a wait.
      const token = typeof options.token === "string" ? options.token : await options.token();
      requestOptions.headers.authorization = `${options.scheme ?? "token"} ${token}`;
      try {
        return await request(requestOptions);
      } catch (error) {
        const waitMs = retryAfterMs(error, requestOptions.method, attempt);
        if (waitMs === null) throw error;
        if (attempt === tries || waitMs > longestWaitMs)
          throw isRefusal(error) ? limited(error, waitMs) : error;
        options.onRetry?.(
          `GitHub: ${requestOptions.method} ${requestOptions.url} again in ${Math.ceil(waitMs / 1000)} s`,
        );
        await sleep(waitMs);
        if (signal?.aborted && isRefusal(error)) throw stopped(error);
      }
    }
  });
}

function retryAfterMs(error: unknown, method: string, attempt: number): number | null {
  if (isRefusal(error)) return rateLimitWaitMs(error, attempt);
  return isUncertain(error) && method === "GET" ? 250 * 2 ** attempt : null;
}

function isRefusal(error: unknown): boolean {
  return [403, 429].includes(statusOf(error) ?? 0);
}

async function unlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => {});
}

function stopped(cause: unknown): CrunchError {
  return new CrunchError({
    code: "interrupted",
    message: "Crunch was told to stop while it waited for GitHub's rate limit.",
    hint: "Comment `/crunch` to go on from the latest checkpoint.",
    cause,
  });
}

function limited(cause: unknown, waitMs: number): CrunchError {
  return new CrunchError({
    code: "github_rate_limit",
    message: `GitHub's rate limit is used up for another ${Math.ceil(waitMs / 60_000)} minutes.`,
    hint: "Comment `/crunch` after that time to go on from the latest checkpoint.",
    cause,
  });
}

/** `Retry-After` if given; else until the reset; else, for a secondary limit, a minute, growing. */
function rateLimitWaitMs(error: unknown, attempt: number): number | null {
  const headers = headersOf(error);
  const retryAfter = Number(headers["retry-after"]);
  if (headers["retry-after"] !== undefined && Number.isFinite(retryAfter)) return retryAfter * 1000;
  const reset = Number(headers["x-ratelimit-reset"]);
  if (headers["x-ratelimit-remaining"] === "0" && Number.isFinite(reset)) {
    return Math.max(1000, reset * 1000 - Date.now() + 1000);
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

/** The waits before a write is repeated: most faults are over at once, the others take a moment. */
const repeatsMs = [0, 1_000];

/** A write that may take place twice without harm: repeated when nobody can tell if it did. */
export async function repeated<T>(request: () => Promise<T>): Promise<T> {
  for (const waitMs of repeatsMs) {
    try {
      return await request();
    } catch (error) {
      if (!isUncertain(error)) throw error;
      await delay(waitMs);
    }
  }
  return request();
}
