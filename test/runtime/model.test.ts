import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  agentPhase,
  answer,
  type CheckpointStore,
  createMemoryStore,
  defineWorkflow,
  humanPhase,
  type PhaseDefinition,
  recordOf,
  replay,
  runWorkflow,
  terminalPhase,
  type WorkflowDefinition,
} from "../../src/index.js";

/** What a phase of a random workflow does. */
interface Script {
  readonly kind: "agent" | "human" | "loop";
  readonly guard: boolean | "throws";
  /** How often it fails before it succeeds. */
  readonly failures: number;
  readonly policy:
    | "fail"
    | "optional"
    | { readonly retries: number }
    | readonly ("retry" | "skip" | "fail")[];
  /** To which of the later phases it leads, by distance; more than one at the same time, or one that is chosen. */
  readonly next: readonly number[];
  readonly chooses: boolean;
  readonly chosen: number;
}

const script: fc.Arbitrary<Script> = fc.record({
  kind: fc.constantFrom<Script["kind"]>("agent", "agent", "human", "loop"),
  guard: fc.constantFrom<Script["guard"]>(true, true, true, true, false, "throws"),
  failures: fc.nat({ max: 3 }),
  policy: fc.oneof(
    fc.constantFrom("fail" as const, "optional" as const),
    fc.record({ retries: fc.integer({ min: 1, max: 4 }) }),
    fc.array(fc.constantFrom("retry" as const, "retry" as const, "skip" as const, "fail" as const), {
      minLength: 1,
      maxLength: 4,
    }),
  ),
  next: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
  chooses: fc.boolean(),
  chosen: fc.nat(),
});
const scripts = fc.array(script, { minLength: 1, maxLength: 7 });
/** At which puts of which sessions the process dies, and whether the put had taken place. */
const kills = fc.array(fc.record({ at: fc.integer({ min: 1, max: 6 }), isStored: fc.boolean() }), {
  maxLength: 8,
});

const nameOf = (at: number, count: number) => (at >= count ? "done" : `p${at}`);
const targetsOf = (script: Script, at: number, count: number) => [
  ...new Set(script.next.map((distance) => nameOf(at + distance, count))),
];
const ledTo = (script: Script, at: number, count: number) => {
  const to = targetsOf(script, at, count);
  return script.chooses ? [to[script.chosen % to.length] ?? "done"] : to;
};

/** How many turns a loop takes. */
const turns = 3;

type Status = "succeeded" | "skipped" | "failed" | "pending";

/** The same by other means: no events, no sessions, no time; phase after phase. */
function modelOf(list: readonly Script[]): ReadonlyMap<string, Status> {
  const statuses = new Map<string, Status>();
  const arrived = new Set(["p0"]);
  const reachable = reachableOf(list);
  const passedBy = new Set<string>();
  for (const [at, script] of list.entries()) {
    const name = nameOf(at, list.length);
    if (!reachable.has(name)) continue;
    const sources = list.flatMap((other, from) =>
      reachable.has(nameOf(from, list.length)) && targetsOf(other, from, list.length).includes(name)
        ? [nameOf(from, list.length)]
        : [],
    );
    const isSettled = sources.every(
      (source) => ["succeeded", "skipped"].includes(statuses.get(source) ?? "") || passedBy.has(source),
    );
    if (!isSettled || !arrived.has(name)) {
      statuses.set(name, "pending");
      if (isSettled) passedBy.add(name);
      continue;
    }
    const status = endOf(script);
    statuses.set(name, status);
    if (status !== "failed") for (const to of ledTo(script, at, list.length)) arrived.add(to);
  }
  return statuses;
}

function reachableOf(list: readonly Script[]): ReadonlySet<string> {
  const found = new Set(["p0"]);
  for (const [at, script] of list.entries())
    if (found.has(nameOf(at, list.length)))
      for (const to of targetsOf(script, at, list.length)) found.add(to);
  return found;
}

function endOf({ kind, guard, failures, policy }: Script): Status {
  if (guard === false) return "skipped";
  const fails = guard === "throws" ? Number.POSITIVE_INFINITY : kind === "human" ? 0 : failures;
  if (fails === 0) return "succeeded";
  if (policy === "fail") return "failed";
  if (policy === "optional") return "skipped";
  if ("retries" in policy) return fails <= policy.retries ? "succeeded" : "failed";
  for (let failed = 0; failed < fails; failed++) {
    const said = policy[failed] ?? "fail";
    if (said !== "retry") return said === "skip" ? "skipped" : "failed";
  }
  return "succeeded";
}

interface State extends Record<string, unknown> {
  failed: Record<string, number>;
  done: string[];
}

/** How often a phase has failed is part of the data where the policy lets it be, else of the retries. */
function workflowOf(list: readonly Script[], ran: string[]): WorkflowDefinition<State> {
  const reachable = reachableOf(list);
  const phases: Record<string, PhaseDefinition<State, string>> = { done: terminalPhase() };
  for (const [at, script] of list.entries()) {
    const name = nameOf(at, list.length);
    if (!reachable.has(name)) continue;
    const to = targetsOf(script, at, list.length);
    const next = script.chooses ? { to, choose: () => ledTo(script, at, list.length) } : to;
    const guard = () => {
      if (script.guard === "throws") throw new Error("the guard is broken");
      return script.guard;
    };
    const { policy } = script;
    const onError =
      typeof policy === "string"
        ? ({ strategy: "fail" } as const)
        : "retries" in policy
          ? ({ strategy: "retry", maxRetries: policy.retries, delayMs: 0, jitter: 0 } as const)
          : ({ strategy: "pause" } as const);
    const common = { guard, onError, optional: policy === "optional", next };
    phases[name] =
      script.kind === "human"
        ? humanPhase({
            ...common,
            human: { type: "approval", prompt: name },
            onResponse: (response, draft: State) => void draft.done.push(`${name} ${response}`),
          })
        : script.kind === "loop"
          ? agentPhase({
              ...common,
              // It fails in its second turn, so that the first must not be done again.
              run: async ({ task, retries }) => {
                ran.push(name);
                await null;
                if (task === "2" && retries < script.failures) throw new Error(`${name} fails`);
                return `${name} ${task}`;
              },
              update: (output: string, draft: State) => void draft.done.push(output),
              until: { done: ({ done }) => done.includes(`${name} ${turns}`), most: turns },
            })
          : agentPhase({
              ...common,
              run: async ({ retries }) => {
                ran.push(name);
                await null;
                if (retries < script.failures) throw new Error(`${name} fails`);
                return name;
              },
              update: (output: string, draft: State) => void draft.done.push(output),
            });
  }
  return defineWorkflow<State>({ failed: {}, done: [] })({
    name: "random",
    first: "p0",
    phases,
    maxAttempts: 1_000,
  });
}

/** A store whose process dies at one of its puts, and does nothing any more after that. */
function dying(store: CheckpointStore, kill: { at: number; isStored: boolean } | undefined): CheckpointStore {
  let puts = 0;
  let isDead = false;
  return {
    ...store,
    async put(checkpoint, options) {
      if (isDead) throw new Error("killed");
      if (++puts !== kill?.at) return store.put(checkpoint, options);
      isDead = true;
      if (kill.isStored) await store.put(checkpoint, options);
      throw new Error("killed");
    },
  };
}

async function runToTheEnd(
  list: readonly Script[],
  workflow: WorkflowDefinition<State>,
  store: CheckpointStore,
  deaths: readonly { at: number; isStored: boolean }[],
) {
  const left = [...deaths];
  const asked = new Map<string, number>();
  for (let sessions = 0; sessions < 200; sessions++) {
    const kill = left.shift();
    try {
      const result = await runWorkflow(workflow, { store: dying(store, kill), issue: 1 });
      if (result.status !== "waiting") return result;
      for (const { phase, purpose } of result.questions) {
        const { policy } = list[Number(phase.slice(1))] ?? {};
        const turn = asked.get(phase) ?? 0;
        const said = Array.isArray(policy) ? (policy[turn] ?? "fail") : "fail";
        if (purpose === "error") asked.set(phase, turn + 1);
        const response = purpose === "error" ? said : "approve";
        await answer(workflow, { store, issue: 1, phase, response, by: "ana" });
      }
    } catch (error) {
      if (!(error instanceof Error) || error.message !== "killed") throw error;
    }
  }
  throw new Error("it never ends");
}

const runs = Number(process.env.CRUNCH_MODEL_RUNS ?? 2_000);

describe("random workflows, with guards, failures, retries, pauses and kills", () => {
  it("end as the model says", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(scripts, kills, async (list, deaths) => {
        const ran: string[] = [];
        const workflow = workflowOf(list, ran);
        const store = createMemoryStore();
        const result = await runToTheEnd(list, workflow, store, deaths);
        const model = modelOf(list);
        const isFailure = [...model.values()].includes("failed");
        expect(result.status).toBe(isFailure ? "failed" : "finished");
        const { phases } = result.checkpoint.orchestrator_state;
        for (const [name, expected] of model) {
          const found = phases[name]?.status;
          // Where one fails, others may not have begun, or still wait for an answer.
          if (isFailure) expect([expected, "pending", "waiting"], name).toContain(found);
          else expect(found, name).toBe(expected === "pending" ? "skipped" : expected);
        }
        const { done } = result.state;
        expect(done, "each counts once").toEqual([...new Set(done)]);
        for (const [at, script] of list.entries()) {
          const name = nameOf(at, list.length);
          const said = done.filter((each) => each.split(" ")[0] === name);
          if (phases[name]?.status === "succeeded")
            expect(said).toHaveLength(script.kind === "loop" ? turns : 1);
          else if (script.kind !== "loop") expect(said).toEqual([]);
        }
        if (deaths.length === 0) expectRunsAsOften(list, ran, phases);
      }),
      { numRuns: runs },
    );
  });

  it("are what their events make of any ancestor", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(scripts, kills, fc.nat(), async (list, deaths, from) => {
        const workflow = workflowOf(list, []);
        const store = createMemoryStore();
        await runToTheEnd(list, workflow, store, deaths);
        const entries = await store.list(1);
        const chain = await Promise.all(entries.map(({ checkpoint_id }) => store.load(1, checkpoint_id)));
        const ancestor = chain[from % chain.length];
        if (!ancestor) throw new Error("no chain");
        let record = recordOf(ancestor);
        for (const checkpoint of chain.slice((from % chain.length) + 1)) {
          if (!checkpoint) throw new Error("a gap");
          record = replay(workflow.graph, record, checkpoint.events ?? []);
          expect(record).toEqual(recordOf(checkpoint));
        }
      }),
      { numRuns: Math.ceil(runs / 4) },
    );
  });
});

function expectRunsAsOften(
  list: readonly Script[],
  ran: readonly string[],
  phases: Readonly<Record<string, { status: string }>>,
): void {
  for (const [at, script] of list.entries()) {
    const name = nameOf(at, list.length);
    if (phases[name]?.status !== "succeeded" || script.kind === "human") continue;
    const most = script.failures + (script.kind === "loop" ? turns : 1);
    expect(ran.filter((each) => each === name)).toHaveLength(most);
  }
}
