import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createFileStore } from "../lib/adapters/fs/checkpoint-store.js";
import { flushFolderNow } from "../lib/adapters/fs/disk.js";
import { artifactPaths } from "../lib/checkpoint/invariants.js";
import {
  createMaker,
  histories,
  issue,
  nextOf,
  nextWithNote,
  putNext,
  stagingOf,
  takeBack,
  writeHistory,
} from "./chains.mjs";
import { countRequests } from "./growth-on-github.mjs";
import { quantile, timed } from "./timing.mjs";

export const name = "Checkpoints: what saving and resuming cost as the history grows";

const lengths = [10, 1_000, 10_000];
const limit = 1.3;
const warmUp = 8;
/** Three saves each make 768: six times all fill levels of index.yaml, whose oldest 128 entries go to a page. */
const rounds = 256;
/** A machine that is busy with something else gets more rounds before the verdict. */
const mostRounds = 3 * rounds;

/** `against` is the history that the longest one is held against. */
const kinds = {
  resume: { text: "resume: a new store reads the latest and its files", against: 10 },
  save: { text: "save", against: 10 },
  note: { text: "save with a new note", against: 10 },
  // It reads index.yaml, which is full from about 160 checkpoints on, and of a few lines before.
  first: { text: "save, first of a new store", against: 1_000 },
};

export async function run(report) {
  const maker = createMaker();
  const found = await histories(lengths, maker);
  await measureFiles(report, found, maker);
  await measureGitHub(report, found, maker);
}

async function measureFiles({ table, promise, newFolder }, found, maker) {
  const folder = newFolder();
  const subjects = new Map(lengths.map((length) => [length, prepare(folder, length, found.get(length))]));
  const middle = (length, kind) => quantile(subjects.get(length).times[kind], 0.5);
  const ratio = (kind, against) => middle(lengths.at(-1), kind) / middle(against, kind);
  const isKept = (kind) => ratio(kind, kinds[kind].against) <= limit;
  mkdirSync(join(folder, "staging"));
  execFileSync("sync");
  await measure([...subjects.values()], maker, () => Object.keys(kinds).every(isKept));
  const samples = subjects.get(10).times.save.length;
  table([
    [`file store, fsync: median ms of ${samples}`, ...lengths.map(inWords), "to 10", "to 1,000"],
    ...Object.entries(kinds).map(([kind, { text }]) => [
      text,
      ...lengths.map((length) => middle(length, kind).toFixed(2)),
      ratio(kind, 10).toFixed(2),
      ratio(kind, 1_000).toFixed(2),
    ]),
  ]);
  for (const [kind, { text, against }] of Object.entries(kinds))
    promise(`${text}: at 10,000 at most ${limit} times as long as at ${inWords(against)}`, isKept(kind));
}

async function measure(subjects, maker, isClear) {
  for (let round = -warmUp; round < mostRounds; round++) {
    if (round > 0 && round % rounds === 0 && isClear()) return;
    // Each is first, second and last equally often.
    for (let turn = 0; turn < subjects.length; turn++) {
      const subject = subjects[(round + warmUp + turn) % subjects.length];
      const times = await subject.measured(() => oneRound(subject.history, maker));
      if (round >= 0) for (const kind of Object.keys(kinds)) subject.times[kind].push(times[kind]);
    }
  }
}

function prepare(folder, length, { end, files }) {
  const root = join(folder, String(length));
  const history = { root, end };
  writeHistory(root, files);
  return {
    history,
    times: Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []])),
    async measured(work) {
      // How long a disk takes to make a file depends on the folder's place on it (on ext4, by far more than on
      // anything measured here): so there is one folder to make files in, and whoever has its turn gets it.
      renameSync(join(folder, "staging"), stagingOf(root));
      flushFolderNow(root);
      const times = await work();
      renameSync(stagingOf(root), join(folder, "staging"));
      // The short history would not stay one. The others hardly grow in comparison.
      if (length < 100) {
        takeBack(root, files);
        history.end = end;
      }
      // What is still to be written would be paid for by whoever flushes next.
      flushFolderNow(root);
      return times;
    },
  };
}

async function oneRound(history, maker) {
  const store = createFileStore(history.root);
  const resume = await timed(() => resumed(store));
  if (resume.value.checkpoint_id !== history.end.checkpoint_id)
    throw new Error("resumed from another checkpoint");
  const saved = async (checkpoint, files) => {
    const { ms, value } = await timed(() => putNext(store, checkpoint, files));
    if (value.status !== "stored") throw new Error(`the put ended as ${value.status}`);
    history.end = checkpoint;
    return ms;
  };
  const first = await saved(nextOf(history.end, maker));
  const save = await saved(nextOf(history.end, maker));
  const { checkpoint, files } = nextWithNote(history.end, maker);
  return { resume: resume.ms, first, save, note: await saved(checkpoint, files) };
}

/** What a session reads before it goes on. */
async function resumed(store) {
  const latest = await store.latest(issue);
  const files = await Promise.all(artifactPaths(latest).map((path) => store.readFile(issue, path)));
  if (files.includes(null)) throw new Error("a file that the checkpoint names is missing");
  return latest;
}

async function measureGitHub({ table, promise }, found, maker) {
  const counted = [];
  for (const length of lengths) counted.push(await countRequests(found.get(length), maker, resumed));
  console.log();
  table([
    ["GitHub: requests", ...lengths.map(inWords)],
    ...Object.keys(counted[0]).map((kind) => [kind, ...counted.map((counts) => counts[kind])]),
  ]);
  const isSame = counted.every((counts) => JSON.stringify(counts) === JSON.stringify(counted[0]));
  promise("on GitHub, as many requests at 10,000 as at 10", isSame);
}

function inWords(length) {
  return length.toLocaleString("en");
}
