import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/adapters/memory/checkpoint-store.js";
import { verifyChain } from "../../src/app/verify-chain.js";
import { CrunchError } from "../../src/errors.js";
import { importFiles, importLimits } from "../../src/migration/import-files.js";
import { storeImport } from "../../src/migration/store-import.js";
import { aMaker } from "../builders.js";
import {
  anOrchestratorCheckpoint,
  anOrchestratorRun,
  aPlainFolder,
  aProgressFile,
  filesOf,
} from "./samples.js";

const importing = (files: ReadonlyMap<string, Buffer>) => importFiles(files, { issue: 42, maker: aMaker() });
const progress = (text: string | Buffer) => new Map([["a-1.json", Buffer.from(text)]]);
const post = (changes: object) =>
  filesOf({
    "run-r7/POST_planning_v1.json": anOrchestratorCheckpoint({ parent_checkpoint_id: null, ...changes }),
  });

function refusal(files: ReadonlyMap<string, Buffer>): CrunchError {
  try {
    importing(files);
  } catch (error) {
    if (error instanceof CrunchError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

describe("what is imported", () => {
  it.each<[string, Record<string, unknown>, number]>([
    ["an orchestrator's run", anOrchestratorRun(), 5],
    ["progress files", { "progress/checkpoints/migration-T060.json": aProgressFile() }, 1],
    ["the plain layout's checkpoints", aPlainFolder(), 2],
  ])("%s: can be stored, and the chain is in order", async (_name, entries, count) => {
    const imported = importing(filesOf(entries));
    const store = createMemoryStore();
    expect(await storeImport(store, 42, imported)).toBe(count);
    const { problems, chain } = await verifyChain(store, 42);
    expect(problems).toEqual([]);
    expect(chain.latest?.checkpoint_id).toBe(imported.checkpoints.at(-1)?.checkpoint_id);
    for (const artifact of Object.values(chain.latest?.artifacts ?? {}))
      expect(await store.readFile(42, `artifacts/${artifact.hash}`)).not.toBeNull();
  });

  it("goes only to an issue without a chain", async () => {
    const store = createMemoryStore();
    const imported = importing(filesOf(aPlainFolder()));
    await storeImport(store, 42, imported);
    const again = storeImport(store, 42, imported);
    await expect(again).rejects.toMatchObject({ name: "CrunchError", code: "import_chain_exists" });
    expect(await store.list(42)).toHaveLength(2);
  });

  it("gives way to a run that begins meanwhile", async () => {
    const store = createMemoryStore();
    const imported = importing(filesOf(aPlainFolder()));
    const racing = { ...store, put: async () => ({ status: "conflict", latest: null }) as const };
    await expect(storeImport(racing, 42, imported)).rejects.toMatchObject({ code: "import_chain_exists" });
  });

  it("gets the issue as it is now, where it is known", () => {
    const snapshot = {
      ...{ title: "Now", body: "b", labels: [], assignees: [], branch: null, head_sha: null },
      ...{ base_branch: "trunk", base_sha: "1".repeat(40) },
    };
    const options = { issue: 42, maker: aMaker(), snapshot };
    const [fresh] = importFiles(filesOf({ "a-1.json": aProgressFile() }), options).checkpoints;
    expect(fresh?.issue_snapshot).toEqual(snapshot);
    const [old] = importFiles(filesOf(aPlainFolder()), options).checkpoints;
    expect(old?.issue_snapshot).toMatchObject({
      base_branch: "trunk",
      title: "Refresh JWT tokens before they expire",
    });
  });
});

describe("refused is", () => {
  it.each<[string, ReadonlyMap<string, Buffer>, RegExp]>([
    ["nothing", new Map(), /no checkpoints of a layout/],
    ["something else", filesOf({ "src/index.ts": "x" }), /no checkpoints of a layout/],
    ["two layouts at once", filesOf({ ...aPlainFolder(), ...anOrchestratorRun() }), /two layouts/],
    ["a path that leads outside", filesOf({ "../a-1.json": aProgressFile() }), /is not a path inside/],
    ["an absolute path", filesOf({ "/a-1.json": aProgressFile() }), /is not a path inside/],
    ["a path with a NUL", filesOf({ "a\0-1.json": aProgressFile() }), /is not a path inside/],
    ["a huge file", new Map([["a-1.json", Buffer.alloc(importLimits.bytesAFile + 1)]]), /more than/],
    ["a large JSON file", progress(Buffer.alloc(9 * 1024 * 1024, " ")), /more than the limit/],
    [
      "too many files",
      new Map(Array.from({ length: 20_001 }, (_, at) => [`a-${at}.json`, Buffer.of()])),
      /20001 files/,
    ],
    ["what is not UTF-8", progress(Buffer.from([0x7b, 0xff, 0x7d])), /not UTF-8/],
    ["deep lists", progress("[".repeat(1_000_000)), /nested more than 32/],
    ["deep maps", progress('{"a":'.repeat(100_000)), /nested more than 32/],
    ["a key twice", progress('{"status":"complete","status":"blocked"}'), /"status" appears twice/],
    [
      "a key twice, once escaped",
      progress('{"status":"complete","st\\u0061tus":"blocked"}'),
      /appears twice/,
    ],
    ["__proto__", progress('{"status":"complete","x":{"__proto__":{"a":1}}}'), /"__proto__" is not allowed/],
    ["a number beyond all bounds", progress('{"status":"complete","x":1e999}'), /x: /],
    ["text that never ends", progress(`{"status":"${"a".repeat(1000)}`), /not JSON/],
    ["a list", progress("[]"), /expected object/],
    ["nothing at all", progress(""), /not JSON/],
    ["a negative count", post({ version: -1 }), /version: /],
    [
      "a fraction of a token",
      post({ agent_states: { a: { status: "complete", token_usage: { input: 0.5, output: 0 } } } }),
      /input: /,
    ],
    ["an unsafe count", post({ duration_ms: 2 ** 60 }), /duration_ms: /],
    ["an agent that is a path", post({ agent_states: { "../x": { status: "complete" } } }), /Invalid key/],
    ["a time of no calendar", post({ created_at: "9999-12-31T23:59:59-05:00" }), /created_at: /],
    ["a run without an id", post({ orchestrator_state: { run_id: "", current_phase: "x" } }), /run_id: /],
  ])("%s, with a message for people", (_name, files, message) => {
    const start = performance.now();
    const error = refusal(files);
    expect(error.code).toBe("import_refused");
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/^[^\p{C}]{10,1000}\.$/u);
    expect(error.hint).toMatch(/^[A-Z].*\.$/);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it("no name or text that tries to be something else in a terminal", () => {
    const key = "\u001b[2J\u202e\n".repeat(100);
    const error = refusal(post({ agent_states: { [key]: { status: "complete" } } }));
    expect(error.message).toMatch(/^[^\p{C}]{10,1000}$/u);
  });
});
