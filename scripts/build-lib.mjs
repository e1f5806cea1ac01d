// Compiles src/ to lib/ with tsc, and skips the work when nothing has changed since the last build.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lib = join(root, "lib");
const stamp = join(lib, ".built");

const inputs = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() || entry.isDirectory())
  .map((entry) => join(entry.parentPath, entry.name));
inputs.push(
  join(root, "src"),
  join(root, "tsconfig.json"),
  join(root, "tsconfig.build.json"),
  join(root, "package-lock.json"),
);

const isCurrent =
  existsSync(stamp) && inputs.every((path) => statSync(path).mtimeMs <= statSync(stamp).mtimeMs);
if (!isCurrent) build();

/** Compiles beside lib/ and then takes its place, so that what runs from lib/ meanwhile finds it whole. */
function build() {
  const began = new Date();
  const [next, last] = [`${lib}.next-${process.pid}`, `${lib}.last-${process.pid}`];
  try {
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const config = join(root, "tsconfig.build.json");
    execFileSync(process.execPath, [tsc, "-p", config, "--outDir", next], { stdio: "inherit" });
    chmodSync(join(next, "entry/cli.js"), 0o755);
    // What changes while tsc works is not in this build.
    writeFileSync(join(next, ".built"), "");
    utimesSync(join(next, ".built"), began, began);
    if (existsSync(lib)) renameSync(lib, last);
    renameSync(next, lib);
  } finally {
    for (const folder of [next, last]) rmSync(folder, { recursive: true, force: true });
  }
}
