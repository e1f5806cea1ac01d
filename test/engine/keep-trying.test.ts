import { describe, expect, it } from "vitest";
import { keepTrying, mayPass } from "../../src/engine/keep-trying.js";
import { CrunchError } from "../../src/errors.js";

const outage = Object.assign(new Error("Service Unavailable"), { status: 503 });
const rejected = Object.assign(new Error("Validation Failed"), { status: 422 });
const limit = new CrunchError({ code: "github_rate_limit", message: "used up", hint: "wait" });

function trying(signal = new AbortController().signal) {
  const said: string[] = [];
  const log = { info() {}, warn: (message: string) => void said.push(message), error() {} };
  return { said, clock: { now: () => new Date() }, log, signal };
}

/** Fails so often, then gives how often it was tried. */
function failing(times: number, error: unknown) {
  let calls = 0;
  return {
    calls: () => calls,
    work: async () => {
      if (++calls <= times) throw error;
      return calls;
    },
  };
}

describe("what an outage kept from being done", () => {
  it("is done again after a wait, and each time it is said", async () => {
    const session = trying();
    const began = Date.now();
    expect(await keepTrying(session, "storing CP-1", null, failing(2, outage).work)).toBe(3);
    expect(Date.now() - began).toBeGreaterThan(2_400);
    expect(session.said).toEqual([
      "storing CP-1: Service Unavailable; again in 0.5 s",
      "storing CP-1: Service Unavailable; again in 2 s",
    ]);
  });

  it("is given up when the lease has ended by the next try", async () => {
    let minutes = 0;
    const now = () => {
      minutes += 3;
      return new Date(Date.UTC(2025, 0, 14, 10, minutes));
    };
    const { work, calls } = failing(99, outage);
    const session = { ...trying(), clock: { now } };
    await expect(keepTrying(session, "x", "2025-01-14T10:07:00.000Z", work)).rejects.toBe(outage);
    expect(calls()).toBe(2);
  });

  it("is tried once more, without a wait, by a process that is told to stop", async () => {
    const stop = new AbortController();
    const { work, calls } = failing(99, outage);
    const tried = keepTrying(trying(stop.signal), "x", null, work);
    setTimeout(() => stop.abort(), 20);
    await expect(tried).rejects.toBe(outage);
    expect(calls()).toBe(2);
  });

  it("is not done again when it was refused", async () => {
    const { work, calls } = failing(1, rejected);
    await expect(keepTrying(trying(), "x", null, work)).rejects.toBe(rejected);
    expect(calls()).toBe(1);
  });
});

it.each([
  [outage, true],
  [Object.assign(new Error("slow down"), { status: 429 }), true],
  [limit, true],
  [rejected, false],
  [new CrunchError({ code: "checkpoint_too_large", message: "m", hint: "h" }), false],
  [new Error("a mistake of ours"), false],
])("%s may pass: %s", (error, expected) => {
  expect(mayPass(error)).toBe(expected);
});
