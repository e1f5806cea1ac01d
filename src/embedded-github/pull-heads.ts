export interface PullHead {
  readonly number: number;
  readonly branch: string;
  readonly base: string;
  readonly sha: string;
  readonly open: boolean;
  readonly mergeCommit?: string;
}

/** Where each pull request's head is now: the emulator leaves it where it was when the request was opened. */
export class PullHeads {
  readonly #pulls = new Map<number, PullHead>();

  get(number: number): PullHead | undefined {
    return this.#pulls.get(number);
  }

  set(pull: PullHead): void {
    this.#pulls.set(pull.number, pull);
  }

  change(number: number, change: Partial<Omit<PullHead, "number">>): void {
    const pull = this.#pulls.get(number);
    if (pull !== undefined) this.#pulls.set(number, { ...pull, ...change });
  }

  openOn(branch: string): readonly PullHead[] {
    return [...this.#pulls.values()].filter((pull) => pull.open && pull.branch === branch);
  }

  openAt(sha: string): readonly PullHead[] {
    return [...this.#pulls.values()].filter((pull) => pull.open && pull.sha === sha);
  }
}
