import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "./process-probe.js";
import { ownerOf } from "./temporary-folder.js";

/**
 * Clears away what processes of Crunch left that were killed: agents that still work for nobody, and their folders.
 * A killed process can't do it itself, and an agent costs money for as long as it runs.
 */
export async function removeLeftovers(root: string = tmpdir()): Promise<{ agents: number; folders: number }> {
  const names = await readdir(root).catch(() => []);
  const folders = names.filter((name) => {
    const owner = ownerOf(name);
    return owner !== null && owner !== process.pid && !isRunning(owner);
  });
  if (folders.length === 0) return { agents: 0, folders: 0 };
  const agents = await endAgents(folders.map((name) => join(root, name)));
  for (const name of folders) await rm(join(root, name), { recursive: true, force: true, maxRetries: 3 });
  return { agents, folders: folders.length };
}

/** An agent and whatever it started carry its context's path in their environment. Only Linux lets us see that. */
async function endAgents(folders: readonly string[]): Promise<number> {
  let ended = 0;
  for (const pid of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    const context = /(?:^|\0)CRUNCH_CONTEXT=([^\0]*)/.exec(environment)?.[1] ?? "";
    if (!folders.some((folder) => context.startsWith(`${folder}/`))) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
      ended++;
    } catch {
      // It ended by itself meanwhile.
    }
  }
  return ended;
}
