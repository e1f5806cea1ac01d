// LangGraph's SQLite saver has a native part, for which a compiler or a download is needed. `npm ci` of the project
// must not fail for want of them: so the saver has a lock file of its own, and is installed when it is first measured.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const requireThere = createRequire(join(folder, "package.json"));
const names = [
  "@langchain/langgraph-checkpoint-sqlite",
  "@langchain/langgraph-checkpoint",
  "@langchain/langgraph",
];

/** Its modules and versions, or the reason why they can't be had here. */
export async function loadLangGraph() {
  const found = await tryLoad();
  if (found.status === "loaded") return found;
  console.log(
    "  Installing LangGraph's SQLite saver to bench/langgraph/node_modules, which may take a minute.\n",
  );
  const args = ["ci", "--prefix", folder, "--no-audit", "--no-fund"];
  const npm = spawnSync("npm", args, { encoding: "utf8", timeout: 240_000 });
  if (npm.status === 0) return tryLoad();
  const errors = npm.stderr?.split("\n").filter((line) => line.startsWith("npm error")) ?? [];
  const reason = npm.error?.message ?? errors.slice(0, 5).join("\n");
  return { status: "missing", reason };
}

async function tryLoad() {
  if (!existsSync(join(folder, "node_modules"))) return { status: "missing", reason: "not installed" };
  try {
    const [{ SqliteSaver }, { uuid6 }, graph] = await Promise.all(
      names.map((name) => import(pathToFileURL(requireThere.resolve(name)).href)),
    );
    // The native part is loaded with the first database only.
    SqliteSaver.fromConnString(":memory:").db.close();
    const [version, , graphVersion] = names.map(versionOf);
    return { status: "loaded", SqliteSaver, uuid6, graph, version, graphVersion };
  } catch (error) {
    return { status: "missing", reason: error instanceof Error ? error.message : String(error) };
  }
}

function versionOf(name) {
  return requireThere(join(folder, "package-lock.json")).packages[`node_modules/${name}`].version;
}
