// Runs every bench/*.bench.mjs in order. Each exports `name` and `run(report)`, and reports what it measured as
// rows of a table, and what has to hold as promises kept or broken. Exits with 1 when one is broken.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(folder)
  .filter((file) => file.endsWith(".bench.mjs"))
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.includes(name)))
  .sort();
/** On the disk of the project: the system's temporary folder may be in memory, where nothing is ever flushed. */
const temporary = join(dirname(folder), ".bench");
/**
 * Where ext4 has no journal, it makes files slowly for minutes near where many were deleted, as by the run before.
 * This tells it to put each new folder elsewhere. Where there is no such thing, nothing is lost.
 */
const spread = { command: "chattr", flags: ["+T"] };
const made = [];
let broken = 0;

console.log(`Node ${process.version}, ${cpus().length} cores`);
try {
  for (const file of files) {
    const bench = await import(pathToFileURL(join(folder, file)));
    console.log(`\n${bench.name}\n`);
    await bench.run({ table, promise, newFolder });
  }
} finally {
  for (const each of made) rmSync(each, { recursive: true, force: true });
}
process.exitCode = broken === 0 ? 0 : 1;

/** Rows of cells; the first row is the heading. */
function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const line = (row) =>
    row.map((cell, column) =>
      column === 0 ? String(cell).padEnd(widths[column]) : String(cell).padStart(widths[column]),
    );
  const [head, ...body] = rows.map((row) => `  ${line(row).join("  ")}`);
  console.log([head, `  ${widths.map((width) => "─".repeat(width)).join("  ")}`, ...body].join("\n"));
}

/** An empty folder, gone after the run. */
function newFolder() {
  mkdirSync(temporary, { recursive: true });
  spawnSync(spread.command, [...spread.flags, temporary]);
  const path = mkdtempSync(join(temporary, "run-"));
  made.push(path);
  return path;
}

function promise(text, isKept) {
  console.log(`\n  ${isKept ? "kept" : "BROKEN"}: ${text}`);
  if (!isKept) broken += 1;
}
