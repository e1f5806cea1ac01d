export interface LoggedRequest {
  readonly at: Date;
  readonly method: string;
  /** The route's template, like `/repos/:owner/:repo/issues/:number/labels`. */
  readonly route: string;
  readonly path: string;
  /** 0 when the socket was destroyed before an answer. */
  readonly status: number;
  readonly ms: number;
  readonly login: string | null;
}

/** A demo may run for days: only so many requests are kept; the counts keep counting. */
const KEPT = 10_000;

export class RequestLog {
  #entries: LoggedRequest[] = [];
  #counts = new Map<string, number>();
  readonly #listeners = new Set<(request: LoggedRequest) => void>();

  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  /** All requests, those of a route, or those of a method on a route. */
  count(route?: string, method?: string): number {
    let total = 0;
    for (const [key, count] of this.#counts) {
      const [ofMethod, ofRoute] = key.split(" ");
      if (route !== undefined && route !== ofRoute) continue;
      if (method !== undefined && method.toUpperCase() !== ofMethod) continue;
      total += count;
    }
    return total;
  }

  /** Counts keyed `"POST /repos/:owner/:repo/git/trees"`. */
  byRoute(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  reset(): void {
    this.#entries = [];
    this.#counts = new Map();
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: (request: LoggedRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  record(request: LoggedRequest): void {
    this.#entries.push(request);
    if (this.#entries.length > KEPT) this.#entries.shift();
    const key = `${request.method} ${request.route}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    for (const listener of this.#listeners) listener(request);
  }
}
