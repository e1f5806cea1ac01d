import type { Checkpoint, Lease } from "../checkpoint/schema.js";
import { closingLease, leaseFor } from "./lease.js";
import type { Session } from "./session.js";
import { workMsOf } from "./work-time.js";

/** When each phase that is at work has to be done: the lease lasts as long as the last of them. */
export class Deadlines {
  readonly #until = new Map<string, number>();

  constructor(private readonly session: Session) {}

  /** The phase, or one more task of it, begins. */
  begin(phase: string, times?: number): void {
    const until = this.session.clock.now().getTime() + workMsOf(this.session.plan, phase, times);
    this.#until.set(phase, Math.max(this.#until.get(phase) ?? 0, until));
  }

  end(phase: string): void {
    this.#until.delete(phase);
  }

  /** Held as long as something is at work; then just long enough to show what was committed. */
  lease(): Lease {
    const last = this.#last();
    if (last === null) return closingLease(this.session);
    return leaseFor(this.session, last - this.session.clock.now().getTime());
  }

  /** Whether the lease that was last stored ends before what is at work has to be done. */
  isShort({ lease }: Checkpoint): boolean {
    const last = this.#last();
    return lease !== null && last !== null && Date.parse(lease.expires_at) < last;
  }

  #last(): number | null {
    return this.#until.size === 0 ? null : Math.max(...this.#until.values());
  }
}
