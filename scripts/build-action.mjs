// Bundles lib/entry/action.js with all it needs into dist/, which is what the Action runs: runners install nothing.
// With --check it compares dist/ with what it would write, and changes nothing.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ncc from "@vercel/ncc";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = join(root, "lib", "entry", "action.js");
const dist = join(root, "dist");

try {
  if (!existsSync(entry)) fail("lib/entry/action.js is missing. Run `npm run build` first.");
  else if (process.argv.includes("--check")) await check();
  else await build(dist);
} catch (error) {
  // An uncaught error of ncc shows the line it came from, which is all of ncc.
  fail(`The bundle could not be built: ${error.message}`);
}

async function build(directory) {
  // ncc resolves some names from the working directory, so it has to be the same wherever this is started.
  process.chdir(root);
  const { code, assets } = await ncc(entry, {
    cache: false,
    minify: false,
    sourceMap: false,
    license: "licenses.txt",
    target: "es2022",
    quiet: true,
  });
  const files = Object.entries(assets).map(([path, { source }]) => [path, source]);
  // The bundle is ESM, as lib/ is; it says so itself, whatever package.json it is copied under.
  files.push(["index.js", code], ["package.json", `${JSON.stringify({ type: "module" })}\n`]);
  rmSync(directory, { recursive: true, force: true });
  for (const [path, content] of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, typeof content === "string" ? content.replaceAll("\r\n", "\n") : content);
  }
}

async function check() {
  const temporary = mkdtempSync(join(tmpdir(), "crunch-dist-"));
  try {
    const fresh = join(temporary, "dist");
    await build(fresh);
    const different = differences(read(fresh), read(dist));
    if (different.length === 0) return console.log("dist/ is what the sources give.");
    fail(
      `dist/ is not what the sources give: ${different.join(", ")}.\nRun \`npm run build:action\` and commit dist/.`,
    );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function read(directory) {
  if (!existsSync(directory)) return new Map();
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((found) =>
    found.isFile(),
  );
  const paths = files.map((file) => join(file.parentPath, file.name));
  return new Map(paths.map((path) => [relative(directory, path).replaceAll(sep, "/"), readFileSync(path)]));
}

function differences(fresh, committed) {
  const paths = [...new Set([...fresh.keys(), ...committed.keys()])].sort();
  return paths.flatMap((path) => {
    const [wanted, found] = [fresh.get(path), committed.get(path)];
    if (!wanted) return [`dist/${path} should not be there`];
    if (!found) return [`dist/${path} is missing`];
    return wanted.equals(found) ? [] : [`dist/${path} differs`];
  });
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
