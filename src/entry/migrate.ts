import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Checkpoint } from "../checkpoint/schema.js";
import { randomHex } from "../engine/session.js";
import { CrunchError } from "../errors.js";
import { importFiles, importLimits } from "../migration/import-files.js";
import { storeImport } from "../migration/store-import.js";
import { createRedactor, secretsIn } from "../redact.js";
import type { NamedChain } from "./chain-of.js";

export interface MigrateOptions {
  /** Only tells what would be imported. */
  readonly dryRun?: boolean;
  readonly print?: (line: string) => void;
}

/** Imports a folder of older checkpoints, prints what became of it, and exits with 1 if anything was wrong with it. */
export async function migrate(folder: string, chain: NamedChain, options: MigrateOptions): Promise<number> {
  const { store, issue } = chain;
  const { dryRun = false, print = console.log } = options;
  const maker = { now: () => new Date(), randomHex, sessionId: `SES-import-${randomHex().slice(0, 12)}` };
  const files = new Map<string, Buffer>();
  await readInto(files, folder, "");
  const imported = importFiles(files, { issue, maker });
  // What is wrong comes first, so that it is known even if storing fails.
  for (const problem of imported.problems) print(`problem: ${problem}`);
  const count = dryRun ? imported.checkpoints.length : await storeImport(store, issue, imported);
  for (const checkpoint of imported.checkpoints) print(lineOf(checkpoint));
  const { length } = imported.problems;
  const found = length === 0 ? "no problems" : `${length} ${length === 1 ? "problem" : "problems"}`;
  print(`${count} checkpoints ${dryRun ? "would be imported" : "imported"} into issue ${issue}, ${found}`);
  return length === 0 ? 0 : 1;
}

function lineOf({ created_at, checkpoint_id, workflow_state, trigger }: Checkpoint): string {
  return `${created_at}  ${checkpoint_id}  ${workflow_state.current_phase}: ${trigger}`;
}

/** Links are not followed, they could lead anywhere: one is taken for what it says, like `latest`. */
async function readInto(files: Map<string, Buffer>, folder: string, below: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    const name = `${below}${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== ".git" && entry.name !== "node_modules") await readInto(files, path, `${name}/`);
    } else if (entry.isSymbolicLink()) files.set(name, Buffer.from(await readlink(path)));
    else if (entry.isFile()) {
      const { size } = await lstat(path);
      if (size > importLimits.bytesAFile || files.size >= importLimits.files) throw tooMuch(path);
      files.set(name, withoutSecrets(name, await readFile(path)));
    }
  }
}

const redact = createRedactor(secretsIn(process.env));

/** Artifacts are proven by their hash, so they stay as they are; what people and agents wrote does not. */
function withoutSecrets(name: string, content: Buffer): Buffer {
  return /\.(json|ya?ml|md)$/.test(name) ? Buffer.from(redact(content.toString("utf8"))) : content;
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    throw new CrunchError({
      code: "folder_unreadable",
      message: `The folder "${folder}" can't be read.`,
      hint: "Name the folder that holds the older checkpoints, for example .claude/checkpoints.",
      cause,
    });
  }
}

function tooMuch(path: string): CrunchError {
  return new CrunchError({
    code: "import_refused",
    message: `There is too much to import: "${path}" is too large, or one file too many.`,
    hint: "Point to the folder that holds the checkpoints, and to nothing above it.",
  });
}
