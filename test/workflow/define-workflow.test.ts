import { describe, expect, expectTypeOf, it } from "vitest";
import {
  agentPhase,
  consensusPhase,
  defineWorkflow,
  humanPhase,
  type RunResult,
  runWorkflow,
  tasksPhase,
  terminalPhase,
  type WorkflowDefinition,
} from "../../src/index.js";

const done = terminalPhase();
const define = defineWorkflow({ count: 0, names: [] as string[] });
const step = <const Name extends string>(next: Name) =>
  agentPhase<{ count: number; names: string[] }, Name>({ run: () => null, next });

describe("a definition that makes no sense", () => {
  it.each([
    [
      "begins nowhere",
      () => define({ name: "w", first: "b" as "done", phases: { done } }),
      /begins with `b`, which is no phase/,
    ],
    [
      "leads to what is not there",
      () => define({ name: "w", first: "a", phases: { a: step("b" as "done"), done } }),
      /`a` leads to `b`, which is no phase of it/,
    ],
    [
      "has a phase that nothing leads to",
      () => define({ name: "w", first: "a", phases: { a: step("done"), lost: step("done"), done } }),
      /nothing leads to `lost`/,
    ],
    [
      "has no end",
      () => define({ name: "w", first: "a", phases: { a: step("b"), b: step("a") } }),
      /no terminal phase; `a` → `b` → `a` goes round for ever/,
    ],
    [
      "goes round for ever beside an end",
      () =>
        define({
          name: "w",
          first: "a",
          phases: { a: agentPhase({ run: () => 1, next: ["b", "done"] }), b: step("a"), done },
        }),
      /`a` → `b` → `a` goes round for ever/,
    ],
    [
      "has a name that can't be part of an id",
      () => define({ name: "w", first: "A b", phases: { "A b": step("done"), done } }),
      /the phase "A b" needs a name/,
    ],
    [
      "retries without a bound",
      () =>
        define({
          name: "w",
          first: "a",
          phases: {
            a: agentPhase({
              run: () => 1,
              onError: { strategy: "retry", maxRetries: Number.NaN },
              next: "done",
            }),
            done,
          },
        }),
      /`a` retries without a number of `maxRetries`/,
    ],
    [
      "loops without a bound",
      () =>
        define({
          name: "w",
          first: "a",
          phases: {
            a: agentPhase({
              run: () => 1,
              until: { done: () => true, most: Number.POSITIVE_INFINITY },
              next: "done",
            }),
            done,
          },
        }),
      /the `until` of `a` has no bound/,
    ],
    [
      "has tasks that wait for each other",
      () =>
        define({
          name: "w",
          first: "a",
          phases: {
            a: tasksPhase({
              tasks: {
                x: { run: () => 1, dependsOn: ["y"] },
                y: { run: () => 1, dependsOn: ["x"] },
                z: { run: () => 1 },
              },
              next: "done",
            }),
            done,
          },
        }),
      /the tasks x, y of `a` wait for each other/,
    ],
    [
      "asks for more votes than there are",
      () =>
        define({
          name: "w",
          first: "a",
          phases: {
            a: consensusPhase({ voters: { x: () => ({ vote: "approve" }) }, quorum: 2, next: "done" }),
            done,
          },
        }),
      /the `quorum` of `a` is not a number from 1 to 1/,
    ],
  ])("that %s is refused", (_, make, message) => {
    expect(make).toThrow(message);
  });

  it("of thousands of phases in a line is looked through", () => {
    const line = Array.from({ length: 20_000 }, (_, index) => [`p${index}`, step(`p${index + 1}` as never)]);
    const phases = { ...Object.fromEntries(line), p20000: done };
    expect(() => define({ name: "w", first: "p0", phases })).not.toThrow();
  });

  it("is told everything that is wrong with it at once", () => {
    const make = () =>
      define({ name: "w", first: "a", phases: { a: step("done"), b: step("done"), c: step("done"), done } });
    expect(make).toThrow(/nothing leads to `b`; nothing leads to `c`/);
  });
});

describe("the types of a definition", () => {
  it("know the data, what a phase gives, and its items", () => {
    const workflow = define({
      name: "typed",
      first: "each",
      phases: {
        each: agentPhase({
          forEach: (state) => state.names,
          run: ({ state, item }) => {
            expectTypeOf(state).toEqualTypeOf<{ count: number; names: string[] }>();
            expectTypeOf(item).toEqualTypeOf<string>();
            return item.length;
          },
          update: (output, draft) => {
            expectTypeOf(output).toEqualTypeOf<number>();
            draft.count += output;
          },
          next: { to: ["ask", "done"], choose: (state) => (state.count > 3 ? "ask" : "done") },
        }),
        ask: humanPhase({
          human: (state) => ({ type: "approval", prompt: `Ship ${state.count}?` }),
          onResponse: (response, draft) => {
            expectTypeOf(response).toEqualTypeOf<string>();
            draft.names.push(response);
          },
          next: "done",
        }),
        done,
      },
    });
    expectTypeOf(workflow).toExtend<WorkflowDefinition<{ count: number; names: string[] }>>();
    expectTypeOf(runWorkflow<{ count: number; names: string[] }>).returns.toEqualTypeOf<
      Promise<RunResult<{ count: number; names: string[] }>>
    >();
  });

  it("refuse what can't run: these lines must not compile", () => {
    const never = () => {
      // @ts-expect-error: `b` is no phase
      define({ name: "w", first: "b", phases: { done } });
      // @ts-expect-error: nothing is called `dnoe`
      define({ name: "w", first: "a", phases: { a: agentPhase({ run: () => 1, next: "dnoe" }), done } });
      const both = agentPhase({ run: () => 1, next: ["done", "b"] });
      // @ts-expect-error: one of the two is not there
      define({ name: "w", first: "a", phases: { a: both, done } });
      // @ts-expect-error: nothing to run
      agentPhase({ next: "done" });
      // @ts-expect-error: leads nowhere
      agentPhase({ run: () => 1 });
      // @ts-expect-error: nobody takes the answer
      humanPhase({ human: { type: "approval", prompt: "?" }, next: "done" });
      // @ts-expect-error: a choice of nothing
      humanPhase({ human: { type: "choice", prompt: "?" }, onResponse: () => {}, next: "done" });
      // @ts-expect-error: a retry without a number
      agentPhase({ run: () => 1, onError: { strategy: "retry" }, next: "done" });
      // @ts-expect-error: a loop without a bound
      agentPhase({ run: () => 1, until: { done: () => true }, next: "done" });
      // @ts-expect-error: the end leads nowhere
      terminalPhase({ next: "done" });
    };
    expect(never).toBeTypeOf("function");
  });
});
