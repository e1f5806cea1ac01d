import { describe, expect, it } from "vitest";
import { closingLease, isHeldByAnother, leaseFor } from "../../src/engine/lease.js";
import type { LivenessProbe } from "../../src/ports.js";
import { aCheckpoint, aLease, clock, now } from "../builders.js";

const minutes = (count: number) => new Date(now.getTime() + count * 60_000).toISOString();
const saying = (answer: Awaited<ReturnType<LivenessProbe["probe"]>>): LivenessProbe => ({
  probe: async () => answer,
});
const notAsked: LivenessProbe = { probe: () => Promise.reject(new Error("nobody has to be asked")) };

describe("a lease", () => {
  const holder = { kind: "actions", run_id: 7, run_attempt: 1 } as const;
  const session = { id: "session-1", holder, clock };

  it("lasts as long as the work may take, and five minutes for what follows it", () => {
    expect(leaseFor(session, 30 * 60_000)).toEqual({
      session_id: "session-1",
      holder,
      claimed_at: now.toISOString(),
      expires_at: minutes(35),
    });
  });

  it("lasts two minutes more when all is committed and only has to be shown", () => {
    expect(closingLease(session)).toMatchObject({ session_id: "session-1", expires_at: minutes(2) });
  });
});

describe("a run", () => {
  const heldUntil = (expires_at: string) => aCheckpoint({ lease: aLease({ expires_at }) });
  const isHeld = (latest: Parameters<typeof isHeldByAnother>[0], probe: LivenessProbe, me = "session-2") =>
    isHeldByAnother(latest, me, clock, probe);

  it("is held while the lease's holder is alive, or nobody can tell", async () => {
    expect(await isHeld(heldUntil(minutes(1)), saying("alive"))).toBe(true);
    expect(await isHeld(heldUntil(minutes(1)), saying("unknown"))).toBe(true);
  });

  it("is free once the holder is proven dead", async () => {
    expect(await isHeld(heldUntil(minutes(1)), saying("dead"))).toBe(false);
  });

  it("is free from the moment the lease runs out, whatever its holder does", async () => {
    expect(await isHeld(heldUntil(now.toISOString()), notAsked)).toBe(false);
  });

  it("is free for the session that holds it", async () => {
    expect(await isHeld(heldUntil(minutes(1)), notAsked, "session-1")).toBe(false);
  });

  it("is free where there is no checkpoint, or none with a lease", async () => {
    expect(await isHeld(null, notAsked)).toBe(false);
    expect(await isHeld(aCheckpoint(), notAsked)).toBe(false);
  });
});
