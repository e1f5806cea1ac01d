import { runTool } from "../process/run-tool.js";
import { toolEnvironment } from "./tool-environment.js";

/** The commit a folder is checked out at; null when it is no git checkout. */
export async function checkoutHead(directory: string): Promise<string | null> {
  try {
    const env = toolEnvironment(directory);
    // In a job's container the checkout often belongs to another user, which git would refuse.
    const words = [
      "git",
      "-c",
      "safe.directory=*",
      "-C",
      directory,
      "rev-parse",
      "--verify",
      "HEAD",
    ] as const;
    const head = await runTool(words, { directory, env });
    return head.toString("latin1").trim();
  } catch {
    return null;
  }
}
