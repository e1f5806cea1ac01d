import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLivenessProbe, type RunProbe, thisProcess, whileActive } from "../../src/adapters/liveness.js";
import { ownIdentity } from "../../src/adapters/process/process-probe.js";
import type { Holder } from "../../src/checkpoint/schema.js";
import { aLease } from "../builders.js";

const notAsked: RunProbe = {
  runStatus: () => Promise.reject(new Error("GitHub has not to be asked")),
  self: null,
};

function probe(holder: Holder, runs: RunProbe = notAsked, session_id = "session-1") {
  return createLivenessProbe(runs).probe(aLease({ holder, session_id }));
}

describe("a session on an Actions runner", () => {
  const holder: Holder = { kind: "actions", run_id: 7, run_attempt: 1 };
  const saying = (status: string | null, self: RunProbe["self"] = null): RunProbe => ({
    runStatus: async (runId) => (runId === 7 ? status : "completed"),
    self,
  });

  it.each([
    ["in_progress", "alive"],
    ["queued", "alive"],
    ["completed", "dead"],
    [null, "unknown"],
  ])("whose run is %s is %s", async (status, expected) => {
    expect(await probe(holder, saying(status))).toBe(expected);
  });

  it("is dead when this is a later attempt of the same run, although the run goes on", async () => {
    expect(await probe(holder, saying("in_progress", { runId: 7, attempt: 2 }))).toBe("dead");
  });

  it("is alive when it is of this very attempt", async () => {
    expect(await probe(holder, saying("in_progress", { runId: 7, attempt: 1 }))).toBe("alive");
  });

  it("is not dead because another run has a later attempt", async () => {
    expect(await probe(holder, saying("in_progress", { runId: 8, attempt: 5 }))).toBe("alive");
  });
});

describe("a session of this process", () => {
  it("is alive exactly while its work goes on", async () => {
    const during = await whileActive("session-1", () => probe(thisProcess()));
    expect(during).toBe("alive");
    expect(await probe(thisProcess())).toBe("dead");
  });

  it("is dead after its work threw", async () => {
    const work = whileActive("session-1", () => Promise.reject(new Error("no network")));
    await expect(work).rejects.toThrow("no network");
    expect(await probe(thisProcess())).toBe("dead");
  });

  it("is told apart from its neighbours", async () => {
    await whileActive("session-2", async () => {
      expect(await probe(thisProcess(), notAsked, "session-1")).toBe("dead");
      expect(await probe(thisProcess(), notAsked, "session-2")).toBe("alive");
    });
  });
});

describe("a session of another process", () => {
  let child: ChildProcess;
  let holder: Extract<Holder, { kind: "process" }>;

  beforeAll(async () => {
    child = spawn(process.execPath, ["-e", "console.log(1); setTimeout(() => {}, 60_000)"]);
    const started_at = new Date().toISOString();
    if (child.pid === undefined || !child.stdout) throw new Error("the child did not start");
    await once(child.stdout, "data");
    holder = { kind: "process", host: ownIdentity().host, pid: child.pid, started_at };
  });
  afterAll(() => void child.kill("SIGKILL"));

  it("is alive while that process is", async () => {
    expect(await probe(holder)).toBe("alive");
  });

  it("is dead when its number now belongs to a process that began at another time", async () => {
    expect(await probe({ ...holder, started_at: "2025-01-14T10:00:00.000Z" })).toBe("dead");
  });

  it("on another machine can't be told", async () => {
    expect(await probe({ ...holder, host: "elsewhere" })).toBe("unknown");
  });

  it("is dead once that process has ended", async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await probe(holder)).toBe("dead");
  });
});

describe("a session of a process that has an instance's name", () => {
  const named = (instance: string) => ({ ...notAsked, instance });
  const mine = thisProcess("crunch-0");

  it("is dead to a later process of the same name, wherever that one runs", async () => {
    const before = { ...mine, started_at: "2025-01-14T10:00:00.000Z" };
    expect(await probe(before, named("crunch-0"))).toBe("dead");
  });

  it("is this process's own by its number and its start", async () => {
    const during = await whileActive("session-1", () => probe(mine, named("crunch-0")));
    expect(during).toBe("alive");
    expect(await probe(mine, named("crunch-0"))).toBe("dead");
  });

  it("can't be told by one of another name, or of none", async () => {
    expect(await probe(mine, named("crunch-1"))).toBe("unknown");
    expect(await probe(mine, named(""))).toBe("unknown");
  });
});
