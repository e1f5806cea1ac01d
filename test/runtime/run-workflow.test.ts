import { describe, expect, it, vi } from "vitest";
import {
  agentPhase,
  answer,
  consensusPhase,
  createMemoryStore,
  defineWorkflow,
  humanPhase,
  type RunEvent,
  runWorkflow,
  tasksPhase,
  terminalPhase,
} from "../../src/index.js";

function fresh() {
  const events: RunEvent[] = [];
  const store = createMemoryStore();
  const options = { store, issue: 1, onEvent: (event: RunEvent) => void events.push(event) };
  const types = () => events.map(({ type }) => type).filter((type) => type !== "checkpoint:created");
  return { store, options, events, types };
}

describe("a run of a workflow", () => {
  it("goes through its phases, takes over what they give, and leaves a chain", async () => {
    const { store, options, types } = fresh();
    const order: string[] = [];
    const workflow = defineWorkflow({ version: "", notes: [] as string[] })({
      name: "release",
      first: "plan",
      phases: {
        plan: agentPhase({
          before: () => void order.push("before"),
          run: ({ state }) => {
            order.push(`run with ${state.notes.length} notes`);
            return "1.2.0";
          },
          update: (version, draft) => {
            draft.version = version;
          },
          after: (version, { state }) => void order.push(`after ${version} ${state.version}`),
          finally: () => void order.push("finally"),
          next: "write",
        }),
        write: agentPhase({
          run: ({ state }) => `Notes of ${state.version}`,
          update: (note, draft) => void draft.notes.push(note),
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    const result = await runWorkflow(workflow, options);
    expect(result).toMatchObject({
      status: "finished",
      state: { version: "1.2.0", notes: ["Notes of 1.2.0"] },
    });
    expect(order).toEqual(["before", "run with 0 notes", "after 1.2.0 1.2.0", "finally"]);
    expect(types()).toEqual([
      ...["run:started", "phase:started", "state:changed", "phase:succeeded"],
      ...["phase:started", "state:changed", "phase:succeeded", "phase:succeeded"],
      "run:finished",
    ]);
    expect((await store.list(1)).map(({ trigger }) => trigger)).toEqual([
      ...["phase_start", "phase_transition", "phase_transition"],
    ]);
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished" });
    expect(await store.list(1)).toHaveLength(3);
  });

  it("runs phases at the same time, and joins them; one that is skipped is not waited for", async () => {
    const { options } = fresh();
    let together = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      together++;
      most = Math.max(most, together);
      await new Promise((resolve) => setTimeout(resolve, 20));
      together--;
    };
    const joined: string[] = [];
    const workflow = defineWorkflow({ seen: 0 })({
      name: "fan",
      first: "plan",
      phases: {
        plan: agentPhase({ run: () => null, next: ["data", "arch", "security"] }),
        data: agentPhase({ run: work, next: "join" }),
        arch: agentPhase({ run: work, next: "join" }),
        security: agentPhase({ guard: () => false, run: work, next: "join" }),
        join: agentPhase({ run: () => void joined.push("join"), next: "done" }),
        done: terminalPhase(),
      },
    });
    const result = await runWorkflow(workflow, options);
    expect(result.status).toBe("finished");
    expect(most).toBe(2);
    expect(joined).toEqual(["join"]);
    const { phases } = result.checkpoint.orchestrator_state;
    expect(phases.security?.status).toBe("skipped");
  });

  it("retries, and asks when it is told to pause", async () => {
    const { options, store } = fresh();
    let calls = 0;
    const workflow = defineWorkflow({ hints: 0, said: "" })({
      name: "flaky",
      first: "call",
      phases: {
        call: agentPhase({
          run: () => {
            calls++;
            if (calls < 3) throw new Error("503");
            return calls;
          },
          onError: {
            strategy: "retry",
            maxRetries: 3,
            delayMs: 1,
            onRetry: (error, draft) => {
              draft.hints += error.message.length;
            },
          },
          next: "risky",
        }),
        risky: agentPhase({
          run: ({ retries }) => {
            if (retries === 0) throw new Error("no idea");
          },
          onError: { strategy: "pause" },
          next: "ask",
        }),
        ask: humanPhase({
          human: { type: "choice", prompt: "Which?", choices: ["a", "b"] },
          onResponse: (response, draft) => {
            draft.said = response;
          },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    const paused = await runWorkflow(workflow, options);
    expect(paused).toMatchObject({
      status: "waiting",
      state: { hints: 6 },
      questions: [{ phase: "risky", choices: ["retry", "skip", "fail"] }],
    });
    await expect(
      answer(workflow, { ...options, phase: "risky", response: "maybe", by: "ana" }),
    ).rejects.toThrow(/is no answer/);
    await answer(workflow, { ...options, phase: "risky", response: "retry", by: "ana" });
    const asked = await runWorkflow(workflow, options);
    expect(asked).toMatchObject({ status: "waiting", questions: [{ phase: "ask", prompt: "Which?" }] });
    await answer(workflow, { ...options, phase: "ask", response: "b", by: "ana" });
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished", state: { said: "b" } });
    expect((await store.latest(1))?.trigger).toBe("phase_transition");
  });

  it("ends the session for a long wait, and goes on after it", async () => {
    const { store } = fresh();
    let time = Date.parse("2025-01-14T10:00:00Z");
    const clock = { now: () => new Date(time) };
    let calls = 0;
    const workflow = defineWorkflow({})({
      name: "slow",
      first: "call",
      phases: {
        call: agentPhase({
          run: () => {
            if (calls++ === 0) throw new Error("429");
          },
          onError: { strategy: "retry", maxRetries: 1, delayMs: 600_000, jitter: 0 },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    const options = { store, issue: 1, clock };
    expect(await runWorkflow(workflow, options)).toMatchObject({
      status: "sleeping",
      until: "2025-01-14T10:10:00.000Z",
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "sleeping" });
    time += 600_000;
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished" });
    expect(calls).toBe(2);
  });

  it("tries again in time, although another phase is still at work", async () => {
    const { options } = fresh();
    const order: string[] = [];
    const workflow = defineWorkflow({})({
      name: "both",
      first: "begin",
      phases: {
        begin: agentPhase({ run: () => null, next: ["long", "flaky"] }),
        long: agentPhase({
          run: () => vi.waitFor(() => expect(order).toContain("flaky"), { timeout: 5_000 }),
          next: "done",
        }),
        flaky: agentPhase({
          run: ({ retries }) => {
            if (retries === 0) throw new Error("503");
            order.push("flaky");
          },
          onError: { strategy: "retry", maxRetries: 1, delayMs: 20 },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished" });
  });

  it("says why it failed also when it is asked later", async () => {
    const { options } = fresh();
    const workflow = defineWorkflow({})({
      name: "sad",
      first: "begin",
      phases: {
        begin: agentPhase({ run: () => null, next: ["slow", "sad"] }),
        slow: agentPhase({
          run: () => new Promise<void>((resolve) => setTimeout(resolve, 20)),
          next: "done",
        }),
        sad: agentPhase({
          run: () => {
            throw new Error("no disk");
          },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    const failed = { status: "failed", phase: "sad", error: "no disk" };
    expect(await runWorkflow(workflow, options)).toMatchObject(failed);
    const again = await runWorkflow(workflow, options);
    expect(again).toMatchObject(failed);
    expect(again.checkpoint.orchestrator_state.phases.slow?.status).toBe("succeeded");
  });

  it("jumps where a plain function says, and does not wait for what it did not choose", async () => {
    const { options } = fresh();
    const ran: string[] = [];
    const note = ({ phase }: { phase: string }) => void ran.push(phase);
    const workflow = defineWorkflow({ left: 2 })({
      name: "jump",
      first: "a",
      phases: {
        a: agentPhase({
          run: note,
          update: (_, draft) => {
            draft.left--;
          },
          next: (state) => (state.left > 0 ? "b" : "c"),
        }),
        b: agentPhase({ run: note, next: "join" }),
        c: agentPhase({ run: note, next: "join" }),
        join: agentPhase({
          run: note,
          next: { to: ["done", "a"], choose: ({ left }) => (left > 0 ? "a" : "done") },
        }),
        done: terminalPhase(),
      },
    });
    const result = await runWorkflow(workflow, options);
    expect(result.status).toBe("finished");
    expect(ran).toEqual(["a", "b", "join", "a", "c", "join"]);
    const { phases } = result.checkpoint.orchestrator_state;
    expect(phases.a).toMatchObject({ status: "succeeded", version: 2 });
    expect(phases.done?.status).toBe("succeeded");
  });

  it("takes nothing over from a phase that does not know where to lead", async () => {
    const { options } = fresh();
    const workflow = defineWorkflow({ count: 0 })({
      name: "lost",
      first: "a",
      phases: {
        a: agentPhase({
          run: () => null,
          update: (_, draft) => {
            draft.count++;
          },
          onError: { strategy: "retry", maxRetries: 2, delayMs: 0 },
          next: { to: ["done"], choose: () => "elsewhere" as "done" },
        }),
        done: terminalPhase(),
      },
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({
      ...{ status: "failed", state: { count: 0 } },
      error: expect.stringContaining("`a` chose to lead to `elsewhere`"),
    });
  });

  it("has nothing left to do at its end, also of what it passed by", async () => {
    const { options } = fresh();
    const workflow = defineWorkflow({})({
      name: "short",
      first: "a",
      phases: {
        a: agentPhase({ run: () => null, next: { to: ["b", "done"], choose: () => "done" } }),
        b: agentPhase({ run: () => null, next: "done" }),
        done: terminalPhase(),
      },
    });
    const { checkpoint, status } = await runWorkflow(workflow, options);
    expect(status).toBe("finished");
    expect(checkpoint.orchestrator_state.phases.b?.status).toBe("skipped");
    expect(checkpoint.recovery_info.can_resume).toBe(false);
  });

  it("does a turn again whose output it could not take over", async () => {
    const { options } = fresh();
    let tries = 0;
    const workflow = defineWorkflow({ turns: [] as number[] })({
      name: "turns",
      first: "a",
      phases: {
        a: agentPhase({
          run: ({ task }) => Number(task),
          update: (turn, draft) => {
            if (turn === 2 && tries++ === 0) throw new Error("not yet");
            draft.turns.push(turn);
          },
          until: { done: (state) => state.turns.length === 3, most: 5 },
          onError: { strategy: "retry", maxRetries: 1, delayMs: 0 },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({
      status: "finished",
      state: { turns: [1, 2, 3] },
    });
  });

  it("does not take just anything for a vote", async () => {
    const { options } = fresh();
    const workflow = defineWorkflow({})({
      name: "vote",
      first: "a",
      phases: {
        a: consensusPhase({ voters: { bot: () => "yes" as never }, next: "done" }),
        done: terminalPhase(),
      },
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({
      status: "failed",
      error: 'bot did not vote, but gave "yes".',
    });
  });

  it("does not lose the work of a failed task's siblings", async () => {
    const { options } = fresh();
    const ran: string[] = [];
    let isBroken = true;
    const noted = ({ task }: { task: string }) => {
      ran.push(task);
      return task;
    };
    const workflow = defineWorkflow({ all: [] as string[] })({
      name: "tasks",
      first: "work",
      phases: {
        work: tasksPhase({
          tasks: {
            a: { run: noted },
            b: {
              run: ({ task }) => {
                ran.push(task);
                if (isBroken) throw new Error("b is broken");
                return task;
              },
            },
            c: { dependsOn: ["a"], run: noted },
            d: { dependsOn: ["b"], run: noted },
          },
          update: (output, draft) => void draft.all.push(String(output)),
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    const failed = await runWorkflow(workflow, options);
    expect(failed).toMatchObject({
      status: "failed",
      phase: "work",
      error: expect.stringContaining("b is broken"),
    });
    expect(ran).toEqual(["a", "b", "c"]);
    isBroken = false;
    const done = await runWorkflow(workflow, { ...options, retryFailed: true });
    expect(done).toMatchObject({ status: "finished", state: { all: ["a", "b", "c", "d"] } });
    expect(ran).toEqual(["a", "b", "c", "b", "d"]);
  });

  it("does something for each item, not more at a time than it may, and repeats until it is done", async () => {
    const { options } = fresh();
    let together = 0;
    let most = 0;
    const workflow = defineWorkflow({ files: ["x", "y", "z"], sizes: [] as number[], left: 3 })({
      name: "many",
      first: "measure",
      phases: {
        measure: agentPhase({
          forEach: (state) => state.files,
          parallel: 2,
          run: async ({ item }) => {
            most = Math.max(most, ++together);
            await new Promise((resolve) => setTimeout(resolve, 5));
            together--;
            return item.charCodeAt(0);
          },
          update: (size, draft) => void draft.sizes.push(size),
          next: "shrink",
        }),
        shrink: agentPhase({
          run: ({ state }) => state.left - 1,
          update: (left, draft) => {
            draft.left = left;
          },
          until: { done: (state) => state.left === 0, most: 5 },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({
      status: "finished",
      state: { sizes: [120, 121, 122], left: 0 },
    });
    expect(most).toBe(2);
  });

  it("asks for consensus, and goes another way without", async () => {
    const { options } = fresh();
    let isGood = false;
    let tries = 0;
    const workflow = defineWorkflow({})({
      name: "review",
      first: "develop",
      phases: {
        develop: agentPhase({
          run: () => {
            isGood = ++tries > 1;
          },
          next: "consensus",
        }),
        consensus: consensusPhase({
          voters: {
            security: () => ({ vote: isGood ? "approve" : "reject" }),
            style: () => ({ vote: "approve" }),
          },
          veto: ["security"],
          people: { needed: 2, prompt: "Ship it?" },
          next: "done",
          otherwise: "develop",
        }),
        done: terminalPhase(),
      },
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({
      status: "waiting",
      questions: [{ phase: "consensus", needed: 2 }],
    });
    expect(tries).toBe(2);
    const say = (by: string) => answer(workflow, { ...options, phase: "consensus", response: "approve", by });
    await say("ana");
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "waiting" });
    await expect(say("ana")).rejects.toThrow(/has answered already/);
    await say("bo");
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished" });
  });
});

describe("a session that ends early", () => {
  const twoSteps = (work: (signal: AbortSignal) => Promise<void>, ran: string[]) =>
    defineWorkflow({})({
      name: "two",
      first: "a",
      maxAttempts: 2,
      phases: {
        a: agentPhase({ run: () => void ran.push("a"), next: "b" }),
        b: agentPhase({
          run: async ({ signal, attempt }) => {
            ran.push(`b#${attempt}`);
            await work(signal);
          },
          finally: () => void ran.push("finally"),
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
  const forEver = () => new Promise<void>(() => {});

  it("is followed by one that goes on with what was at work, and gives up after so many", async () => {
    const { store } = fresh();
    const ran: string[] = [];
    for (let session = 0; session < 2; session++) {
      let begin = () => {};
      const began = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const dead = { ...store };
      const workflow = twoSteps(() => {
        // The process is gone from here on.
        dead.put = forEver as never;
        begin();
        return forEver();
      }, ran);
      void runWorkflow(workflow, { store: dead, issue: 1 });
      await began;
    }
    expect(ran).toEqual(["a", "b#1", "b#2"]);
    const last = await runWorkflow(twoSteps(forEver, ran), { store, issue: 1 });
    expect(last).toMatchObject({
      status: "failed",
      phase: "b",
      error: "The session died 2 times while b was running.",
    });
    const again = twoSteps(async () => {}, ran);
    expect(await runWorkflow(again, { store, issue: 1, retryFailed: true })).toMatchObject({
      status: "finished",
    });
    expect(ran.slice(3)).toEqual(["b#1", "finally"]);
  });

  it("because it was told to, saves where it was and counts as no failure", async () => {
    const { store, options } = fresh();
    const ran: string[] = [];
    // More often than sessions may die.
    for (let session = 0; session < 4; session++) {
      const stop = new AbortController();
      const workflow = twoSteps(async () => {
        stop.abort(new Error("enough"));
        await forEver();
      }, ran);
      const stopped = await runWorkflow(workflow, { ...options, signal: stop.signal });
      expect(stopped).toMatchObject({ status: "stopped" });
    }
    expect(ran).toEqual(["a", "b#1", "finally", "b#2", "finally", "b#3", "finally", "b#4", "finally"]);
    expect((await store.latest(1))?.trigger).toBe("session_end");
    expect((await store.latest(1))?.orchestrator_state.phases.b).toMatchObject({ attempt: 4, stops: 4 });
    const calm = twoSteps(async () => {}, ran);
    expect(await runWorkflow(calm, options)).toMatchObject({ status: "finished" });
  });

  it("because another one came first, says so", async () => {
    const { store, options } = fresh();
    const workflow = twoSteps(async () => {
      await runWorkflow(
        twoSteps(async () => {}, []),
        { store, issue: 1 },
      );
    }, []);
    await expect(runWorkflow(workflow, options)).rejects.toThrow(/Another session has gone on with issue 1/);
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished" });
  });
});

describe("the parts of a phase", () => {
  it.each(["guard", "before", "run", "after", "finally"] as const)("have a time limit: %s", async (part) => {
    const { options } = fresh();
    const never = () => new Promise<never>(() => {});
    const workflow = defineWorkflow({})({
      name: "slow",
      first: "a",
      phases: {
        a: agentPhase({ run: () => 1, [part]: never, timeLimits: { [part]: 10 }, next: "done" }),
        done: terminalPhase(),
      },
    });
    const result = await runWorkflow(workflow, options);
    expect(result).toMatchObject({ status: "failed", error: expect.stringMatching(/time limit of 10 ms/) });
  });

  it("end with finally, however it went", async () => {
    const { options } = fresh();
    const parts: string[] = [];
    const workflow = defineWorkflow({})({
      name: "sad",
      first: "a",
      phases: {
        a: agentPhase({
          run: () => {
            throw new Error("no");
          },
          after: () => void parts.push("after"),
          finally: () => void parts.push("finally"),
          optional: true,
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    const result = await runWorkflow(workflow, options);
    expect(result.status).toBe("finished");
    expect(result.checkpoint.orchestrator_state.phases.a?.status).toBe("skipped");
    expect(parts).toEqual(["finally"]);
  });
});

describe("a loop", () => {
  const loop = (rounds: number, maxVisits = 100) =>
    defineWorkflow({ round: 0, built: 0 })({
      name: "loop",
      first: "build",
      maxVisits,
      phases: {
        build: agentPhase({
          run: ({ version }) => version,
          update: (version, draft) => {
            draft.built = version;
          },
          next: ["test", "lint"],
        }),
        lint: agentPhase({ run: () => null, next: "review" }),
        test: agentPhase({ run: () => null, next: "review" }),
        review: agentPhase({
          run: () => null,
          update: (_, draft) => {
            draft.round += 1;
          },
          next: { to: ["build", "done"], choose: ({ round }) => (round < rounds ? "build" : "done") },
        }),
        done: terminalPhase(),
      },
    });

  it("does what it leads back to again, with all that follows", async () => {
    const { options, events } = fresh();
    const result = await runWorkflow(loop(3), options);
    expect(result).toMatchObject({ status: "finished", state: { round: 3, built: 3 } });
    expect(result.checkpoint.orchestrator_state.phases.lint).toMatchObject({
      version: 3,
      status: "succeeded",
    });
    expect(events.filter(({ type }) => type === "phases:reset")).toHaveLength(2);
  });

  it("that never ends is ended", async () => {
    const { options } = fresh();
    expect(await runWorkflow(loop(1_000, 5), options)).toMatchObject({
      status: "failed",
      phase: "build",
      error: "it was begun 5 times",
    });
  });
});

it("a long phase makes checkpoints of its events", async () => {
  const { options, store } = fresh();
  const items = Array.from({ length: 50 }, (_, at) => at);
  const workflow = defineWorkflow({ items })({
    name: "long",
    first: "a",
    snapshotEvery: 20,
    phases: {
      a: agentPhase({
        forEach: (state) => state.items,
        parallel: 2,
        run: () => new Promise<void>((resolve) => setTimeout(resolve, 1)),
        next: "done",
      }),
      done: terminalPhase(),
    },
  });
  await runWorkflow(workflow, options);
  const triggers = (await store.list(1)).map(({ trigger }) => trigger);
  // About 100 events; but not more often than there are tasks, because each of them holds all tasks.
  expect(triggers.filter((trigger) => trigger === "every_n_events")).toHaveLength(2);
});

describe("a question", () => {
  const asking = (onTimeout: "fail" | "skip" | { answer: string }) =>
    defineWorkflow({ said: "" })({
      name: "ask",
      first: "ask",
      phases: {
        ask: humanPhase({
          human: { type: "text", prompt: "Why?", timeoutMs: 60_000, onTimeout },
          onResponse: (response, draft) => {
            draft.said = response;
          },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });

  it.each([
    ["fail", { status: "failed", error: expect.stringContaining("Nobody answered") }],
    ["skip", { status: "finished", state: { said: "" } }],
    [{ answer: "because" }, { status: "finished", state: { said: "because" } }],
  ] as const)("that nobody answers in time ends with %j", async (onTimeout, expected) => {
    const { store } = fresh();
    let time = Date.parse("2025-01-14T10:00:00Z");
    const options = { store, issue: 1, clock: { now: () => new Date(time) } };
    expect(await runWorkflow(asking(onTimeout), options)).toMatchObject({ status: "waiting" });
    time += 59_000;
    expect(await runWorkflow(asking(onTimeout), options)).toMatchObject({ status: "waiting" });
    time += 1_000;
    expect(await runWorkflow(asking(onTimeout), options)).toMatchObject(expected);
  });

  it("is followed by `after`, which knows the answer; a session that dies in it does not lose the answer", async () => {
    const { options } = fresh();
    const heard: string[] = [];
    let isDead = true;
    const workflow = defineWorkflow({ said: "" })({
      name: "ask",
      first: "ask",
      phases: {
        ask: humanPhase({
          human: { type: "approval", prompt: "Ship it?" },
          onResponse: (response, draft) => {
            draft.said = response;
          },
          after: async ({ state }) => {
            heard.push(state.said);
            if (isDead) await new Promise(() => {});
          },
          next: "done",
        }),
        done: terminalPhase(),
      },
    });
    await runWorkflow(workflow, options);
    await answer(workflow, { ...options, phase: "ask", response: "approve", by: "ana" });
    void runWorkflow(workflow, options);
    await vi.waitFor(() => expect(heard).toEqual(["approve"]));
    isDead = false;
    const result = await runWorkflow(workflow, options);
    expect(result).toMatchObject({ status: "finished", state: { said: "approve" } });
  });

  it("about what came of a phase is asked once, and the phase leads on with both", async () => {
    const { options } = fresh();
    let runs = 0;
    const workflow = defineWorkflow({ draft: "", verdict: "" })({
      name: "draft",
      first: "write",
      phases: {
        write: agentPhase({
          run: () => {
            runs++;
            return "a draft";
          },
          update: (text, data) => {
            data.draft = text;
          },
          human: (state, output) => ({
            type: "choice",
            prompt: `${state.draft} ${output}`,
            choices: ["good", "bad"],
          }),
          onResponse: (response, data) => {
            data.verdict = response;
          },
          next: {
            to: ["done", "write"],
            choose: (state, output) => (output && state.verdict ? "done" : "write"),
          },
        }),
        done: terminalPhase(),
      },
    });
    expect(await runWorkflow(workflow, options)).toMatchObject({
      questions: [{ prompt: "a draft a draft" }],
    });
    await answer(workflow, { ...options, phase: "write", response: "good", by: "ana" });
    expect(await runWorkflow(workflow, options)).toMatchObject({
      status: "finished",
      state: { verdict: "good" },
    });
    expect(runs).toBe(1);
  });

  it("is bound to its checkpoint", async () => {
    const { options } = fresh();
    const workflow = asking("fail");
    const { checkpoint } = await runWorkflow(workflow, options);
    const say = (id: string) =>
      answer(workflow, { ...options, phase: "ask", response: "so", by: "ana", checkpoint: id });
    await expect(say("CP-ask-20250114-0000")).rejects.toThrow(/another checkpoint/);
    await say(checkpoint.checkpoint_id);
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished", state: { said: "so" } });
  });
});

describe("beside a phase that is at work", () => {
  const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  it("a question that leads back ends it: what it does no longer counts", async () => {
    const { options } = fresh();
    const ended: string[] = [];
    const workflow = defineWorkflow({ rounds: 0, said: "" })({
      name: "rounds",
      first: "begin",
      phases: {
        begin: agentPhase({
          run: () => 1,
          update: (_, draft) => {
            draft.rounds += 1;
          },
          next: ["ask", "work", "tick"],
        }),
        ask: humanPhase({
          human: ({ rounds }) => ({
            ...{ type: "approval", prompt: "Fine?", timeoutMs: 10 },
            onTimeout: { answer: rounds < 2 ? "reject" : "approve" },
          }),
          onResponse: (response, draft) => {
            draft.said = response;
          },
          next: { to: ["begin", "end"], choose: ({ said }) => (said === "reject" ? "begin" : "end") },
        }),
        work: agentPhase({
          run: async ({ state, signal }) => {
            if (state.rounds > 1) return;
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            ended.push("aborted");
          },
          next: "end",
        }),
        // Something has to happen for anybody to see that the time is up.
        tick: agentPhase({ run: () => soon(40), next: "end" }),
        end: terminalPhase(),
      },
    });
    const result = await runWorkflow(workflow, options);
    expect(result).toMatchObject({ status: "finished", state: { rounds: 2 } });
    expect(ended).toEqual(["aborted"]);
  });

  it("a next try in a month does not keep the session busy", async () => {
    const { options } = fresh();
    let looks = 0;
    const clock = {
      now: () => {
        looks++;
        return new Date();
      },
    };
    const workflow = defineWorkflow({})({
      name: "patient",
      first: "begin",
      phases: {
        begin: agentPhase({ run: () => 1, next: ["flaky", "work"] }),
        flaky: agentPhase({
          run: () => Promise.reject(new Error("not yet")),
          onError: { strategy: "retry", maxRetries: 1, delayMs: 30 * 86_400_000 },
          next: "end",
        }),
        work: agentPhase({ run: () => soon(300), next: "end" }),
        end: terminalPhase(),
      },
    });
    expect((await runWorkflow(workflow, { ...options, clock })).status).toBe("sleeping");
    expect(looks).toBeLessThan(100);
  });
});

it("keeps as many checkpoints of a kind as it is told, and all when it is told nothing", async () => {
  const counted = async (retention?: { readonly batch_complete: number }) => {
    const { store, options } = fresh();
    const workflow = defineWorkflow({ turns: 0 })({
      name: "turns",
      first: "turn",
      phases: {
        turn: agentPhase({
          run: () => 1,
          update: (_, draft) => {
            draft.turns += 1;
          },
          until: { done: ({ turns }) => turns === 8, most: 10 },
          next: "end",
        }),
        end: terminalPhase(),
      },
    });
    await runWorkflow(workflow, { ...options, ...(retention && { retention }) });
    return (await store.list(1)).filter(({ trigger }) => trigger === "batch_complete").length;
  };
  expect(await counted()).toBe(8);
  expect(await counted({ batch_complete: 2 })).toBeLessThanOrEqual(3);
});
