import { describe, expect, it } from "vitest";
import { parseWorkflowFile } from "../../src/config/parse-config.js";

function workflowOf(text: string) {
  const result = parseWorkflowFile(text, "flow.yml");
  if (result.status === "invalid") throw new Error(JSON.stringify(result.problems));
  return result.config;
}

/** `line:column path: message`, one for each. */
function problemsOf(text: string, agents: readonly string[] | null = null): string[] {
  const result = parseWorkflowFile(text, "flow.yml", agents);
  if (result.status === "ok") return [];
  return result.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
}

/** What is wrong with one phase `a`, which is written in the third line. */
function problemsOfPhase(phase: string): string[] {
  return problemsOf(`phases:\n  done: { type: terminal }\n  a: { ${phase} }\nfirst: a\n`);
}

describe("a workflow in YAML", () => {
  it("has a default for everything but its phases", () => {
    expect(workflowOf("phases:\n  work: { next: done }\n  done: { type: terminal }\n")).toEqual({
      shape: {
        name: "custom",
        first: "work",
        initial: {},
        maxVisits: 100,
        snapshotEvery: 1000,
        phases: {
          work: { type: "agent", does: "", next: ["done"] },
          done: { type: "terminal", does: "" },
        },
      },
      phases: { work: { agent: null, timeoutMs: null, writes: ["**"], gates: [] } },
    });
  });

  it("says everything that a shape can say", () => {
    const { shape, phases } = workflowOf(`name: release
first: plan
data: { files: [a, b], round: 0 }
max_visits: 7
snapshot_every: 50
phases:
  plan:
    does: plans it
    agent: planner
    role: lead
    timeout: 20m
    writes: ["docs/**"]
    gates: [{ type: output, path: plan.md }]
    optional: true
    guard: size(state.files) > 0
    before: [[npm, ci], { command: [npm, test], timeout: 2m }]
    after: [[npm, run, build]]
    finally: [[rm, -r, tmp]]
    on_error: { strategy: retry, max_retries: 3, backoff: exponential, delay: 30s, max_delay: 2d, jitter: 0.1, update: { round: state.round + 1 } }
    time_limits: { guard: 5s, before: 1m, run: 1h, after: 1m, finally: 1m }
    for_each: state.files
    until: { done: state.round == 3, most: 5 }
    parallel: 2
    update: { plan: output.plan, ready: true, round: 3 }
    ask:
      type: choice
      prompt: "Go on with {{ state.plan }}?"
      choices: [now, later]
      when: state.round > 1
      timeout: 3d
      on_timeout: { answer: later }
      remind: 1d
      save_as: answer
    next:
      - { if: state.answer == 'now', to: [build, docs] }
      - { to: done }
  build:
    type: tasks
    tasks:
      api: { does: the API, agent: coder, role: api }
      ui: { depends_on: [api] }
    on_error: pause
    next: review
  docs: { next: [review] }
  review:
    type: consensus
    voters: { qa: { does: looks for bugs, agent: tester }, security: {} }
    quorum: 2
    veto: [security]
    people: { needed: 2, prompt: "Merge {{ issue.title }}?", timeout: 1d }
    otherwise: plan
    on_error: { strategy: pause, prompt: "{{ output.error }}" }
    next: approve
  approve:
    type: human
    ask: { prompt: Publish? }
    on_error: fail
    next: done
  done: { type: terminal, does: is the end }
`);
    expect(shape).toEqual({
      name: "release",
      first: "plan",
      initial: { files: ["a", "b"], round: 0 },
      maxVisits: 7,
      snapshotEvery: 50,
      phases: {
        plan: {
          type: "agent",
          does: "plans it",
          agent: "planner",
          role: "lead",
          optional: true,
          guard: "size(state.files) > 0",
          before: [
            { command: ["npm", "ci"], timeoutMs: 600_000 },
            { command: ["npm", "test"], timeoutMs: 120_000 },
          ],
          after: [{ command: ["npm", "run", "build"], timeoutMs: 600_000 }],
          finally: [{ command: ["rm", "-r", "tmp"], timeoutMs: 600_000 }],
          onError: {
            strategy: "retry",
            maxRetries: 3,
            backoff: "exponential",
            delayMs: 30_000,
            maxDelayMs: 172_800_000,
            jitter: 0.1,
            update: { round: "state.round + 1" },
          },
          timeLimits: { guard: 5000, before: 60_000, run: 3_600_000, after: 60_000, finally: 60_000 },
          forEach: "state.files",
          until: { done: "state.round == 3", most: 5 },
          parallel: 2,
          update: { plan: "output.plan", ready: "true", round: "3" },
          ask: {
            type: "choice",
            prompt: "Go on with {{ state.plan }}?",
            choices: ["now", "later"],
            when: "state.round > 1",
            timeoutMs: 259_200_000,
            onTimeout: { answer: "later" },
            remindMs: 86_400_000,
            saveAs: "answer",
          },
          next: {
            choices: [
              { if: "state.answer == 'now'", to: ["build", "docs"] },
              { if: null, to: ["done"] },
            ],
          },
        },
        build: {
          type: "tasks",
          does: "",
          tasks: {
            api: { does: "the API", agent: "coder", role: "api" },
            ui: { does: "", dependsOn: ["api"] },
          },
          onError: { strategy: "pause" },
          next: ["review"],
        },
        docs: { type: "agent", does: "", next: ["review"] },
        review: {
          type: "consensus",
          does: "",
          voters: { qa: { does: "looks for bugs", agent: "tester" }, security: { does: "" } },
          quorum: 2,
          veto: ["security"],
          people: { needed: 2, prompt: "Merge {{ issue.title }}?", timeoutMs: 86_400_000 },
          otherwise: "plan",
          onError: { strategy: "pause", prompt: "{{ output.error }}" },
          next: ["approve"],
        },
        approve: {
          type: "human",
          does: "",
          ask: { type: "approval", prompt: "Publish?" },
          onError: { strategy: "fail" },
          next: ["done"],
        },
        done: { type: "terminal", does: "is the end" },
      },
    });
    const none = { agent: null, timeoutMs: null, writes: ["**"], gates: [] };
    expect(phases).toEqual({
      plan: {
        agent: "planner",
        timeoutMs: 1_200_000,
        writes: ["docs/**"],
        gates: [{ type: "output", name: "plan.md", path: "plan.md" }],
      },
      build: none,
      docs: none,
      review: none,
    });
  });

  it("may name voters only, and how many people have to approve", () => {
    const { shape } = workflowOf(
      "phases: { vote: { type: consensus, voters: [a, b], veto: anybody, people: 2, next: end }, end: { type: terminal } }\n",
    );
    expect(shape.phases.vote).toEqual({
      ...{ type: "consensus", does: "", next: ["end"], veto: "anybody" },
      voters: { a: { does: "" }, b: { does: "" } },
      people: { needed: 2, prompt: "Do you approve?" },
    });
  });

  it("with one choice that always holds has no choice", () => {
    const { shape } = workflowOf("phases: { a: { next: [{ to: [b, b] }] }, b: { type: terminal } }\n");
    expect(shape.phases.a).toMatchObject({ next: ["b"] });
  });
});

describe("a phase in YAML", () => {
  it.each([
    ["tipe: agent, next: done", '3:8 phases.a.tipe: the key "tipe" is not known here. Did you mean "type"?'],
    [
      "type: humn, next: done",
      '3:8 phases.a.type: expected "agent", "tasks", "human", "consensus" or "terminal", found the text "humn". Did you mean "human"?',
    ],
    [
      "type: terminal, next: done",
      "3:24 phases.a.next: `next` is only for the type agent, tasks, human, consensus; here the type is terminal.",
    ],
    [
      "quorum: 1, next: done",
      "3:8 phases.a.quorum: `quorum` is only for the type consensus; here the type is agent.",
    ],
    [
      "type: human, ask: { prompt: Ok? }, gates: [], next: done",
      "3:43 phases.a.gates: `gates` is only for the type agent, tasks; here the type is human.",
    ],
    ["does: nothing", "3:3 phases.a: a phase of the type agent needs `next`."],
    ["type: human, next: done", "3:3 phases.a: a phase of the type human needs `ask`."],
    ["type: tasks, next: done", "3:3 phases.a: a phase of the type tasks needs `tasks`."],
    ["type: tasks, tasks: {}, next: done", "3:21 phases.a.tasks: expected at least one task."],
    ["guard: state.x >, next: done", "3:8 phases.a.guard: the expression can't be read: it ends too early."],
    [
      "guard: [x], next: done",
      "3:8 phases.a.guard: expected an expression such as state.count > 3, found a list.",
    ],
    [
      "update: { name: ana }, next: done",
      "3:18 phases.a.update.name: the expression can't be read: there is no variable `ana`, only state, output, issue, phases. Text is written in quotes: 'ana'.",
    ],
    [
      "update: { 1x: '1' }, next: done",
      "3:18 phases.a.update.1x: this name is not allowed: a name in the data has letters, digits, - and _.",
    ],
    [
      "before: [npm], next: done",
      '3:17 phases.a.before[0]: expected a command: a list of words, or a map with `command` and `timeout`, found the text "npm".',
    ],
    [
      "after: [{ command: npm ci }], next: done",
      '3:18 phases.a.after[0].command: expected a list of words, found the text "npm ci". Write it as a list: [npm, ci]',
    ],
    [
      "finally: [[]], next: done",
      "3:18 phases.a.finally[0]: expected a list with at least one item, found an empty list.",
    ],
    [
      "on_error: retry, next: done",
      "3:8 phases.a.on_error: `retry` needs `max_retries`, how often to try again: { strategy: retry, max_retries: 3 }.",
    ],
    [
      "on_error: { strategy: retry }, next: done",
      "3:8 phases.a.on_error: `retry` needs `max_retries`, how often to try again: { strategy: retry, max_retries: 3 }.",
    ],
    [
      "on_error: { strategy: pause, delay: 3s }, next: done",
      "3:37 phases.a.on_error.delay: `delay` is only for the strategy retry; here the strategy is pause.",
    ],
    [
      "on_error: stop, next: done",
      '3:8 phases.a.on_error: expected "fail", "pause" or a map with `strategy`, found the text "stop".',
    ],
    [
      "on_error: { strategy: retry, max_retries: 1, delay: 91d }, next: done",
      '3:53 phases.a.on_error.delay: expected a duration between 1s and 90d, found the text "91d".',
    ],
    [
      "on_error: { strategy: retry, max_retries: 1, delay: soon }, next: done",
      '3:53 phases.a.on_error.delay: expected a duration such as 30s, 10m, 2h or 3d, found the text "soon".',
    ],
    [
      "time_limits: { run: 6h }, next: done",
      '3:23 phases.a.time_limits.run: expected a duration between 1s and 5h, found the text "6h".',
    ],
    [
      "until: { done: state.ok }, next: done",
      "3:8 phases.a.until.most: `until` needs `most`, how often it may run before it counts as failed: { done: …, most: 10 }.",
    ],
    [
      "until: { done: state.ok, most: 0 }, next: done",
      "3:33 phases.a.until.most: expected 1 or more, found the number 0.",
    ],
    [
      "ask: { prompt: '{{ state. }}' }, next: done",
      "3:15 phases.a.ask.prompt: the text can't be filled in: in `{{ state. }}`: it ends too early.",
    ],
    [
      "ask: { type: choice, prompt: x }, next: done",
      "3:8 phases.a.ask: a choice needs `choices`, the answers to choose from.",
    ],
    [
      "ask: { prompt: x, choices: [a] }, next: done",
      "3:26 phases.a.ask.choices: `choices` is only for the type choice; here the type is approval.",
    ],
    [
      "ask: { prompt: x, on_timeout: skip }, next: done",
      "3:26 phases.a.ask.on_timeout: `on_timeout` needs a `timeout`: without one it is waited for ever.",
    ],
    [
      "ask: { prompt: x, timeout: 1d, on_timeout: { answer: yes } }, next: done",
      '3:53 phases.a.ask.on_timeout.answer: expected one of the answers, approve, reject, found the text "yes".',
    ],
    [
      "ask: { prompt: x, timeout: 1d, on_timeout: stop }, next: done",
      '3:39 phases.a.ask.on_timeout: expected "fail", "skip" or a map with `answer`, found the text "stop".',
    ],
    [
      "next: 3",
      "3:8 phases.a.next: expected the name of a phase, a list of names or a list of choices, found the number 3.",
    ],
    ["next: []", "3:8 phases.a.next: expected a list with at least one item, found an empty list."],
    [
      "next: [done, { to: done }]",
      "3:8 phases.a.next: expected either names or choices in one list, not both.",
    ],
    [
      "next: [{ if: state.x, to: done }]",
      "3:15 phases.a.next[0]: expected a last choice without `if`, for when no condition holds: { to: … }.",
    ],
    [
      "next: [{ to: done }, { to: done }]",
      "3:15 phases.a.next[0]: expected an `if`: only the last of the choices may have none.",
    ],
    [
      "next: [{ if: state.x, too: x, to: done }, { to: done }]",
      '3:30 phases.a.next[0].too: the key "too" is not known here. Did you mean "to"?',
    ],
    [
      "type: tasks, tasks: { x: { depends_on: [yy] }, yyy: {} }, next: done",
      '3:48 phases.a.tasks.x.depends_on[0]: expected the name of a task of this phase, found "yy". Did you mean "yyy"?',
    ],
    [
      "type: tasks, tasks: { x: { depends_on: [y] }, y: { depends_on: [x] }, z: {} }, next: done",
      "3:35 phases.a.tasks.x.depends_on: the tasks x, y wait for each other.",
    ],
    [
      "type: tasks, tasks: { x: { depends_on: [x] } }, next: done",
      "3:35 phases.a.tasks.x.depends_on: the task x waits for itself.",
    ],
    [
      "type: consensus, next: done",
      "3:3 phases.a: nobody votes here: name `voters`, or how many `people` have to approve.",
    ],
    [
      "type: consensus, voters: [], next: done",
      "3:3 phases.a: nobody votes here: name `voters`, or how many `people` have to approve.",
    ],
    [
      "type: consensus, voters: [x], quorum: 2, next: done",
      "3:38 phases.a.quorum: there is 1 voter, so 2 can't approve.",
    ],
    [
      "type: consensus, voters: { qa: {} }, veto: [qaa], next: done",
      '3:52 phases.a.veto[0]: expected the name of a voter of this phase, found "qaa". Did you mean "qa"?',
    ],
    [
      "type: consensus, voters: [x], veto: x, next: done",
      '3:38 phases.a.veto: expected "anybody" or a list of voters, found the text "x".',
    ],
    [
      "type: consensus, people: 0, next: done",
      "3:25 phases.a.people: expected 1 or more, found the number 0.",
    ],
    [
      "type: consensus, people: all, next: done",
      '3:25 phases.a.people: expected how many people, or a map with `needed`, found the text "all".',
    ],
  ])("%s", (phase, problem) => {
    expect(problemsOfPhase(phase)).toEqual([problem]);
  });
});

describe("a problem between phases", () => {
  it("is a phase that is not there, wherever it is named", () => {
    const text = `first: strat
phases:
  start:
    next: [build, dcs]
  build:
    type: consensus
    voters: [qa]
    otherwise: fixx
    next:
      - if: state.ok
        to: [dome]
      - to: done
  docs: { next: done }
  done: { type: terminal }
`;
    const expected = "expected the name of a phase, found";
    expect(problemsOf(text)).toEqual([
      `1:1 first: ${expected} "strat". Did you mean "start"?`,
      `4:19 phases.start.next[1]: ${expected} "dcs". Did you mean "docs"?`,
      `11:14 phases.build.next[0].to[0]: ${expected} "dome". Did you mean "done"?`,
      `8:5 phases.build.otherwise: ${expected} "fixx". There are: start, build, docs, done.`,
    ]);
  });

  it.each([
    ["phases: {}\n", "1:1 phases: expected at least one phase."],
    ["name: x\n", "1:1 phases: expected a map, but it is missing."],
    [
      "phases: { a: { next: b }, b: { next: [{ if: 'true', to: a }, { to: b }] } }\n",
      "1:1 phases: it has no terminal phase.",
    ],
    [
      "phases:\n  a: { next: b }\n  b: { type: terminal }\n  c: { next: b }\n",
      "4:3 phases.c: nothing leads to `c`.",
    ],
    [
      "phases:\n  a: { next: [b, done] }\n  b: { next: a }\n  done: { type: terminal }\n",
      "2:3 phases.a: `a` → `b` → `a` goes round for ever.",
    ],
    [
      "phases: { Plan: { next: done }, done: { type: terminal } }\n",
      "1:11 phases.Plan: this name is not allowed: a phase has lower-case letters, digits, - and _, begins with a letter and ends with no dash.",
    ],
    [
      `phases: { ${"a".repeat(41)}: { type: terminal } }\n`,
      expect.stringContaining("expected at most 40 characters, found 41."),
    ],
    [
      "name: My flow\nphases: { a: { type: terminal } }\n",
      "1:1 name: a name has lower-case letters, digits, - and _, at most 40 in all.",
    ],
    [
      "data: { x: .inf }\nphases: { a: { type: terminal } }\n",
      "1:1 data: expected what JSON can say: .nan and .inf are not.",
    ],
    ["- a\n", "1:1 : expected a map, found a list."],
    [
      "phases:\n  a: { gates: [{ type: output, path: x.md }], next: b }\n  b: { gates: [{ type: output, path: x.md }], next: c }\n  c: { type: terminal }\n",
      '3:16 phases.b.gates[0]: the gate name "x.md" is used twice, but each gate is a check of its own. Give it another `name`.',
    ],
  ])("is found in %j", (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it("is a number of phases or tasks that nobody can look after", () => {
    const lines = (count: number, line: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => line(index)).join("");
    const phases = lines(5000, (index) => `  p${index}: { next: p${index + 1} }\n`);
    expect(problemsOf(`phases:\n${phases}`)).toEqual([
      "1:1 phases: expected at most 200 phases, found 5000.",
    ]);
    const tasks = lines(5000, (index) => `      t${index}: { depends_on: [t${index + 1}] }\n`);
    expect(
      problemsOf(
        `phases:\n  a:\n    type: tasks\n    next: b\n    tasks:\n${tasks}  b: { type: terminal }\n`,
      ),
    ).toEqual(["5:5 phases.a.tasks: expected at most 500 tasks, found 5000."]);
  });

  it("is no loop that a choice, or votes, can leave", () => {
    expect(
      problemsOf(`phases:
  a: { next: b }
  b: { type: consensus, voters: [qa], otherwise: a, next: done }
  done: { type: terminal }
`),
    ).toEqual([]);
  });

  it("is an agent that nobody has defined, where they are known", () => {
    const text = `phases:
  a: { type: tasks, agent: coder, tasks: { x: { agent: codr } }, next: done }
  done: { type: terminal }
`;
    expect(problemsOf(text, ["coder"])).toEqual([
      '2:49 phases.a.tasks.x.agent: expected the name of an agent under `agents`, found "codr". Did you mean "coder"?',
    ]);
    expect(problemsOf(text)).toEqual([]);
  });
});
