import { join } from "node:path";
import {
  agentPhase,
  createFileStore,
  createMemoryStore,
  defineWorkflow,
  pendingBatches,
  runWorkflow,
  tasksPhase,
  terminalPhase,
} from "../lib/index.js";
import { loadLangGraph } from "./langgraph/load.mjs";
import { quantile, timed } from "./timing.mjs";

export const name = "Workflows: a checkpoint at each of 1,000 steps, and 10,000 tasks";

const steps = 1_000;
const rounds = 3;

export async function run({ table, promise, newFolder }) {
  await measureSteps({ table, promise, folder: newFolder() });
  console.log();
  await measureTasks({ table, promise });
}

/** The same line of phases, each of which adds one to a number. */
async function measureSteps({ table, promise, folder }) {
  const langGraph = await loadLangGraph();
  const own = line(steps);
  const subjects = [
    { label: "Crunch, memory", run: () => runOwn(own, createMemoryStore(), 1) },
    { label: "Crunch, files", run: (round) => runOwn(own, createFileStore(join(folder, `${round}`)), 1) },
  ];
  if (langGraph.status === "loaded") {
    const { graph, SqliteSaver } = langGraph;
    const sqlite = (round) => SqliteSaver.fromConnString(join(folder, `${round}.db`));
    subjects.push(
      { label: "LangGraph, memory", run: () => runOther(graph, new graph.MemorySaver()) },
      { label: "LangGraph, SQLite", run: (round) => runOther(graph, sqlite(round)) },
    );
  } else console.log(`  Without LangGraph, which can't be installed here: ${langGraph.reason}\n`);
  const times = subjects.map(() => []);
  for (let round = 0; round <= rounds; round++)
    for (const [at, { run }] of subjects.entries()) {
      const { ms } = await timed(() => run(round));
      // The first is to warm up.
      if (round > 0) times[at].push(ms / steps);
    }
  const perStep = times.map((each) => quantile(each, 0.5));
  table([
    [`a line of ${steps.toLocaleString("en")} phases`, "ms per step"],
    ...subjects.map(({ label }, at) => [label, perStep[at].toFixed(2)]),
  ]);
  if (langGraph.status !== "loaded") return;
  console.log(`\n  Medians of ${rounds}, in turns. @langchain/langgraph ${langGraph.graphVersion}.`);
  promise(
    `in memory it takes less time than LangGraph: ${ratio(perStep[0], perStep[2])}`,
    perStep[0] < perStep[2],
  );
  promise(`on files it takes less than on SQLite: ${ratio(perStep[1], perStep[3])}`, perStep[1] < perStep[3]);
}

const ratio = (a, b) => `${(a / b).toFixed(2)} of it`;

function line(count) {
  const phases = { done: terminalPhase() };
  for (let at = 0; at < count; at++)
    phases[`s${at}`] = agentPhase({
      run: ({ state }) => state.n + 1,
      update: (n, draft) => {
        draft.n = n;
      },
      next: at + 1 < count ? `s${at + 1}` : "done",
    });
  return defineWorkflow({ n: 0 })({ name: "line", first: "s0", phases });
}

async function runOwn(workflow, store, issue) {
  const result = await runWorkflow(workflow, { store, issue });
  if (result.status !== "finished" || result.state.n !== steps) throw new Error("it did not do its work");
}

async function runOther({ StateGraph, Annotation, START, END }, checkpointer) {
  let builder = new StateGraph(Annotation.Root({ n: Annotation() }));
  for (let at = 0; at < steps; at++) builder = builder.addNode(`s${at}`, ({ n }) => ({ n: n + 1 }));
  builder.addEdge(START, "s0");
  for (let at = 0; at + 1 < steps; at++) builder.addEdge(`s${at}`, `s${at + 1}`);
  builder.addEdge(`s${steps - 1}`, END);
  const options = { recursionLimit: steps + 10, configurable: { thread_id: "1" } };
  const { n } = await builder.compile({ checkpointer }).invoke({ n: 0 }, options);
  if (n !== steps) throw new Error("it did not do its work");
}

/** Layers of tasks, each of which waits for two of the layer before. */
function layered(count) {
  const width = count / 10;
  const tasks = {};
  for (let at = 0; at < count; at++) {
    const before = at - width;
    const dependsOn = before < 0 ? [] : [`t${before}`, `t${Math.floor(before / width) * width}`];
    tasks[`t${at}`] = { dependsOn: [...new Set(dependsOn)], run: () => at };
  }
  return tasks;
}

async function measureTasks({ table, promise }) {
  const [few, many] = [1_000, 10_000];
  const planned = [];
  const ran = [];
  for (const count of [few, many]) {
    const tasks = layered(count);
    const nodes = Object.fromEntries(
      Object.entries(tasks).map(([name, { dependsOn }]) => [
        name,
        { status: "pending", depends_on: dependsOn },
      ]),
    );
    const samples = [];
    for (let round = 0; round < 15; round++) samples.push((await timed(() => pendingBatches(nodes))).ms);
    planned.push(quantile(samples, 0.5));
    const phases = { work: tasksPhase({ tasks, next: "done" }), done: terminalPhase() };
    const workflow = defineWorkflow({})({ name: "tasks", first: "work", phases });
    const whole = [];
    for (let round = 0; round < 3; round++)
      whole.push((await timed(() => runWorkflow(workflow, { store: createMemoryStore(), issue: 1 }))).ms);
    ran.push(quantile(whole, 0.5));
  }
  const row = (text, [a, b]) => [text, `${a.toFixed(1)} ms`, `${b.toFixed(1)} ms`, (b / a).toFixed(1)];
  table([
    ["tasks", few.toLocaleString("en"), many.toLocaleString("en"), "ratio"],
    row("put in batches", planned),
    row("run, with a checkpoint after each of 10 batches", ran),
  ]);
  promise("ten times the tasks take at most 12 times as long to schedule", planned[1] / planned[0] <= 12);
}
