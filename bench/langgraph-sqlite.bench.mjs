import { join } from "node:path";
import { createFileStore } from "../lib/adapters/fs/checkpoint-store.js";
import { createMaker, firstOf, nextOf, putNext } from "./chains.mjs";
import { loadLangGraph } from "./langgraph/load.mjs";
import { quantile, timed } from "./timing.mjs";

export const name = "Checkpoints: the file store beside LangGraph's SQLite saver, with the same 4 KB state";

const rounds = 40;
const warmUp = 5;
const issues = [1, 2, 3, 4, 5, 6, 7, 8];

/** What is measured, and how many operations each sample has. */
const kinds = {
  put: { text: "put", count: 10 },
  putAll: { text: "put, 8 threads at once", count: issues.length },
  fresh: { text: "get, new reader", count: 1 },
  changed: { text: "get, same reader, new state", count: 1 },
  same: { text: "get, same reader, same state", count: 10 },
};

export async function run({ table, newFolder }) {
  const saver = await loadLangGraph();
  if (saver.status === "missing") {
    console.log(
      `  SKIPPED: LangGraph's SQLite saver can't be installed here.\n  ${saver.reason.replaceAll("\n", "\n  ")}`,
    );
    return;
  }
  const folder = newFolder();
  const pairs = [
    [crunch(join(folder, "fsync"), "fsync"), sqlite(saver, join(folder, "full.db"), "FULL")],
    [crunch(join(folder, "none"), "none"), sqlite(saver, join(folder, "default.db"), null)],
  ];
  const subjects = pairs.flat().map((subject) => ({ ...subject, times: noTimes() }));
  try {
    const maker = createMaker();
    const chains = issues.map((issue) => ({ end: firstOf(maker, issue).checkpoint, step: 0 }));
    for (let round = -warmUp; round < rounds; round++) {
      const states = statesOf(chains, maker);
      for (let turn = 0; turn < subjects.length; turn++) {
        const subject = subjects[(round + warmUp + turn) % subjects.length];
        const times = await oneRound(subject, states);
        if (round >= 0) for (const [kind, ms] of Object.entries(times)) subject.times[kind].push(ms);
      }
    }
    const heads = ["on the disk when the put returns", "left to the system when"];
    for (const [at, head] of heads.entries()) {
      if (at > 0) console.log();
      report(table, head, subjects.slice(at * 2, at * 2 + 2));
    }
    console.log(
      `\n  Medians of ${rounds}, in turns. @langchain/langgraph-checkpoint-sqlite ${saver.version}.`,
    );
  } finally {
    for (const { close } of subjects) close();
  }
}

const noTimes = () => Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));

function report(table, head, [own, other]) {
  const perSecond = ({ times }, kind) => (1000 * kinds[kind].count) / quantile(times[kind], 0.5);
  table([
    [`${head}: per second`, own.label(), other.label(), "ratio"],
    ...Object.entries(kinds).map(([kind, { text }]) => [
      text,
      ...[own, other].map((subject) => Math.round(perSecond(subject, kind)).toLocaleString("en")),
      (perSecond(own, kind) / perSecond(other, kind)).toFixed(2),
    ]),
  ]);
}

/** What all subjects store in a round: many states of the first thread, then one of each. */
function statesOf(chains, maker) {
  const next = (chain) => {
    // The first of all has no parent, and is stored as it is.
    if (chain.step > 0) chain.end = nextOf(chain.end, maker);
    chain.step += 1;
    return { checkpoint: chain.end, step: chain.step };
  };
  return {
    line: Array.from({ length: kinds.put.count }, () => next(chains[0])),
    all: chains.map(next),
    last: next(chains[0]),
  };
}

async function oneRound({ put, getFresh, getWarm }, { line, all, last }) {
  const times = {};
  const sample = async (kind, work) => {
    times[kind] = (await timed(work)).ms;
  };
  await sample("put", async () => {
    for (const state of line) await put(state);
  });
  await sample("putAll", () => Promise.all(all.map(put)));
  await sample("fresh", () => getFresh(issues[0]));
  await getWarm(issues[0]);
  await put(last);
  let found;
  await sample("changed", async () => {
    found = await getWarm(issues[0]);
  });
  if (found.checkpoint_id !== last.checkpoint.checkpoint_id)
    throw new Error("read another state than the latest");
  await sample("same", async () => {
    for (let at = 0; at < kinds.same.count; at++) await getWarm(issues[0]);
  });
  return times;
}

function crunch(root, durability) {
  const open = () => createFileStore(root, { durability });
  const [writer, reader] = [open(), open()];
  return {
    label: () => `Crunch, ${durability}`,
    async put({ checkpoint }) {
      const { status } = await putNext(writer, checkpoint);
      if (status !== "stored") throw new Error(`the put ended as ${status}`);
    },
    getFresh: (issue) => open().latest(issue),
    getWarm: (issue) => reader.latest(issue),
    close() {},
  };
}

/** `synchronous: null` leaves the saver's own setting. */
function sqlite({ SqliteSaver, uuid6 }, path, synchronous) {
  const opened = [];
  const open = () => {
    const saver = SqliteSaver.fromConnString(path);
    opened.push(saver);
    if (synchronous !== null) saver.db.pragma(`synchronous = ${synchronous}`);
    return saver;
  };
  const [writer, reader] = [open(), open()];
  const configOf = (issue) => ({ configurable: { thread_id: String(issue), checkpoint_ns: "" } });
  const parents = new Map();
  const get = async (saver, issue) => (await saver.getTuple(configOf(issue))).checkpoint.channel_values.run;
  return {
    label() {
      const [journal, level] = ["journal_mode", "synchronous"].map((name) =>
        writer.db.pragma(name, { simple: true }),
      );
      const word = ["OFF", "NORMAL", "FULL", "EXTRA"][level];
      return `SqliteSaver, ${journal}, synchronous=${word}${synchronous === null ? " (its default)" : ""}`;
    },
    async put({ checkpoint: state, step }) {
      const { configurable } = configOf(state.issue_number);
      const config = { configurable: { ...configurable, checkpoint_id: parents.get(state.issue_number) } };
      const checkpoint = {
        ...{ v: 4, id: uuid6(step), ts: state.created_at, versions_seen: {} },
        ...{ channel_values: { run: state }, channel_versions: { run: step } },
      };
      const stored = await writer.put(config, checkpoint, { source: "loop", step, parents: {} });
      parents.set(state.issue_number, stored.configurable.checkpoint_id);
    },
    getFresh: (issue) => get(open(), issue),
    getWarm: (issue) => get(reader, issue),
    close: () => opened.forEach(({ db }) => void db.close()),
  };
}
