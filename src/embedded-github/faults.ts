export type FaultEffect =
  /** Answered with this status; nothing is applied. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** Answered late, and applied. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The socket is destroyed; nothing is applied. */
  | { readonly kind: "reset" }
  /** Applied, then the socket is destroyed. */
  | { readonly kind: "lost" }
  /** Applied, but another status is answered. */
  | { readonly kind: "lost-status"; readonly status: number };

export interface Fault {
  /** `path` is tested against the decoded path with its query. */
  readonly match: { readonly method?: string; readonly path?: RegExp };
  /** The first matching request it strikes, 1-based, counted from when the fault was added. Default 1. */
  readonly nth?: number;
  /** How many matching requests it strikes. Default 1. */
  readonly times?: number;
  readonly effect: FaultEffect;
}

/** What shall go wrong with which requests. */
export class FaultPlan {
  #faults: { readonly fault: Fault; seen: number }[] = [];

  /** Returns a function that takes the fault away again. */
  add(fault: Fault): () => void {
    const entry = { fault, seen: 0 };
    this.#faults.push(entry);
    return () => {
      this.#faults = this.#faults.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#faults = [];
  }

  take(method: string, path: string): FaultEffect | undefined {
    let effect: FaultEffect | undefined;
    for (const entry of this.#faults) {
      const { match, nth = 1, times = 1 } = entry.fault;
      if (match.method !== undefined && match.method.toUpperCase() !== method) continue;
      if (match.path !== undefined && path.search(match.path) === -1) continue;
      entry.seen += 1;
      if (entry.seen >= nth && entry.seen < nth + times) effect ??= entry.fault.effect;
    }
    return effect;
  }
}
