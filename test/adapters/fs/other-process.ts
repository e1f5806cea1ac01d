import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Checkpoint } from "../../../src/checkpoint/schema.js";
import type { PutOptions } from "../../../src/ports.js";

const project = join(dirname(fileURLToPath(import.meta.url)), "../../..");

export interface OtherPut {
  readonly root: string;
  readonly checkpoint: Checkpoint;
  readonly options: Omit<PutOptions, "files">;
  readonly files?: readonly { readonly path: string; readonly content: string | null }[];
  /** The step at which the process kills itself, from 1. */
  readonly killAt?: number;
}

export interface OtherResult {
  readonly signal: NodeJS.Signals | null;
  /** The put's status, or the message of what it threw. */
  readonly status: string;
  readonly steps: readonly string[];
}

const program = (store: string) => `
import { writeSync } from "node:fs";
import { createFileStore } from ${JSON.stringify(store)};
const { root, checkpoint, options, files, killAt } = JSON.parse(process.argv[1]);
const say = (what) => writeSync(1, JSON.stringify(what) + "\\n");
let steps = 0;
const onStep = (step) => {
  say({ step });
  if (++steps === killAt) process.kill(process.pid, "SIGKILL");
};
const changes = (files ?? []).map(({ path, content }) => ({
  path, mode: "100644", content: content === null ? null : Buffer.from(content), status: "modified",
}));
await createFileStore(root, { onStep }).put(checkpoint, { ...options, files: changes }).then(
  ({ status }) => say({ status }),
  (error) => say({ status: String(error.message) }),
);
`;

/** The store compiled for plain Node, and processes that put with it. */
export function compileStore() {
  const cache = join(project, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "crunch-fs-"));
  const config = {
    extends: join(project, "tsconfig.json"),
    compilerOptions: { noEmit: false, outDir: folder, rootDir: join(project, "src") },
    files: [join(project, "src/adapters/fs/checkpoint-store.ts")],
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  // Wrong types are for the type check to find: they do not keep it from being compiled.
  spawnSync(process.execPath, [join(project, "node_modules/typescript/bin/tsc"), "-p", folder]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const store = pathToFileURL(join(folder, "adapters/fs/checkpoint-store.js")).href;
  return {
    async put(what: OtherPut): Promise<OtherResult> {
      const child = spawn(process.execPath, [
        "--input-type=module",
        "-e",
        program(store),
        JSON.stringify(what),
      ]);
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
      const signal = await new Promise<NodeJS.Signals | null>((resolve) =>
        child.once("close", (_, signal) => resolve(signal)),
      );
      const said: { step?: string; status?: string }[] = output
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
      return {
        signal,
        status: said.find(({ status }) => status !== undefined)?.status ?? "none",
        steps: said.flatMap(({ step }) => step ?? []),
      };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
