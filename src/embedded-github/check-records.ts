import type { JsonObject } from "./json.js";

interface CheckRecord {
  readonly slug: string;
  readonly annotations: readonly JsonObject[];
}

/** What the emulator forgets about a check run: the App that made it, and annotations sent in parts. */
export class CheckRecords {
  readonly #runs = new Map<number, CheckRecord>();

  get(id: number): CheckRecord | undefined {
    return this.#runs.get(id);
  }

  created(id: number, slug: string, annotations: readonly JsonObject[]): void {
    this.#runs.set(id, { slug, annotations });
  }

  annotated(id: number, more: readonly JsonObject[]): void {
    const run = this.#runs.get(id);
    if (run !== undefined) this.#runs.set(id, { ...run, annotations: [...run.annotations, ...more] });
  }
}
