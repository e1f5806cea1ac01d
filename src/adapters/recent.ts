/** What was seen of the things used last: a bot works for months, on more issues than it can remember. */
export class Recent<K, V> {
  readonly #most: number;
  readonly #seen = new Map<K, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: K): V | undefined {
    const value = this.#seen.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#seen.delete(key);
    this.#seen.set(key, value);
    if (this.#seen.size <= this.#most) return;
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest);
      return;
    }
  }

  delete(key: K): void {
    this.#seen.delete(key);
  }
}
