import { lstat, mkdir } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";

/** Makes the folder, unless something on the way is no folder: a link in the repo could lead anywhere. */
export async function makeOutputFolder(workspace: string, outputFolder: string): Promise<void> {
  const steps = relative(workspace, resolve(workspace, outputFolder)).split(sep);
  if (steps.includes("..")) return;
  let at = workspace;
  for (const step of steps) {
    at = join(at, step);
    await mkdir(at).catch(() => {});
    if (!(await lstat(at).catch(() => null))?.isDirectory()) return;
  }
}
