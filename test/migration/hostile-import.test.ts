import { expect, it } from "vitest";
import { createMemoryStore } from "../../src/adapters/memory/checkpoint-store.js";
import { verifyChain } from "../../src/app/verify-chain.js";
import { CrunchError } from "../../src/errors.js";
import { importFiles } from "../../src/migration/import-files.js";
import { storeImport } from "../../src/migration/store-import.js";
import { aMaker } from "../builders.js";
import { createRandom, type Random } from "../checkpoint/forge.js";
import { anOrchestratorRun, aPlainFolder, aProgressFile, filesOf } from "./samples.js";

const layouts = [
  filesOf(anOrchestratorRun()),
  filesOf({
    "checkpoints/migration-T060.json": aProgressFile(),
    "checkpoints/b-T1.json": { status: "complete" },
  }),
  filesOf(aPlainFolder()),
];
const hostile = [
  ...["null", "true", "-1", "1e999", "9007199254740993", '""', "[]", "{}", '"../../x"', '"constructor"'],
  ...[
    '"9999-12-31T23:59:59-12:00"',
    '"0000-01-01T00:00:00Z"',
    '"\\u0000\\u001b[2J"',
    '"\\ud800"',
    "[[[[1]]]]",
  ],
];

/** One value of a file becomes another, or a few of its bytes do. */
function mutated(bytes: Buffer, { below, pick }: Random): Buffer {
  const text = bytes.toString();
  const values = [...text.matchAll(/(?<=: ?)(?:"[^"\n]*"|-?[\d.]+|true|false|null|[A-Za-z][^\n,}\]]*)/g)];
  if (values.length > 0 && below(4) > 0) {
    const { index, 0: old } = pick(values);
    return Buffer.from(text.slice(0, index) + pick(hostile) + text.slice(index + old.length));
  }
  const changed = Buffer.from(bytes);
  for (let left = below(3); left >= 0; left -= 1) changed[below(Math.max(1, changed.length))] = below(256);
  return changed;
}

it("whatever is changed in older files, they are refused, or become a chain that is in order", async () => {
  const random = createRandom(Number(process.env.CRUNCH_SEED ?? 42));
  const outcomes = { refused: 0, imported: 0 };
  for (let round = 0; round < 500; round += 1) {
    const files = new Map(random.pick(layouts));
    for (let left = random.below(3); left >= 0; left -= 1) {
      const [path, bytes] = random.pick([...files]);
      files.set(path, mutated(bytes, random));
    }
    try {
      const imported = importFiles(files, { issue: 42, maker: aMaker() });
      const store = createMemoryStore();
      await storeImport(store, 42, imported);
      const { problems } = await verifyChain(store, 42);
      // The orchestrator may have let a version of a phase succeed twice, which is its history.
      expect(problems.filter((problem) => !problem.endsWith("succeeded twice"))).toEqual([]);
      for (const problem of imported.problems) expect(problem).toMatch(/^[^\p{C}]{10,800}$/u);
      outcomes.imported += 1;
    } catch (error) {
      if (!(error instanceof CrunchError)) throw error;
      expect(error.message).toMatch(/^[^\p{C}]{10,4000}$/u);
      outcomes.refused += 1;
    }
  }
  expect(outcomes.imported).toBeGreaterThan(100);
  expect(outcomes.refused).toBeGreaterThan(20);
});
