import { runTool } from "../process/run-tool.js";
import { toolEnvironment } from "./tool-environment.js";

/**
 * Makes the folder a repository with one commit, so that agents can use git in it. Crunch runs git here only
 * now, before any agent has: later its configuration may be anybody's.
 */
export async function initRepository(directory: string, sha: string, home: string): Promise<void> {
  const git = (...args: string[]) => runTool(["git", ...args], { directory, env: toolEnvironment(home) });
  await git("init", "--quiet", "--template=", "--initial-branch=crunch");
  await git("config", "core.autocrlf", "false");
  await git("config", "gc.auto", "0");
  // For the agent's own commits, on a machine without an identity.
  await git("config", "user.name", "crunch-agent");
  await git("config", "user.email", "crunch-agent@users.noreply.github.com");
  // Nothing here has to survive a crash of the machine, and a sync for each file takes seconds.
  await git("config", "core.fsync", "none");
  await git("-c", "core.bigFileThreshold=1", "add", "--all", "--force");
  await git("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--allow-empty", `--message=base ${sha}`);
}
