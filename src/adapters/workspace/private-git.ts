import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "../process/run-tool.js";
import { toolEnvironment } from "./tool-environment.js";

// Rewritten before each use: an agent that finds this folder must not plant a command in its configuration.
// With every file a "big" one, git writes one pack instead of thousands of small files: 3 to 8 times as fast.
const CONFIG = `[core]
	repositoryformatversion = 0
	bare = false
	fileMode = true
	symlinks = true
	ignoreCase = false
	precomposeUnicode = false
	autocrlf = false
	safecrlf = false
	fsmonitor = false
	untrackedCache = false
	hooksPath = /dev/null
	excludesFile = /dev/null
	attributesFile = /dev/null
	bigFileThreshold = 1
	compression = 1
	fsync = none
[gc]
	auto = 0
`;

interface GitCall {
  readonly workTree: string;
  /** Another index than the main one. */
  readonly index?: string;
  readonly input?: Buffer;
  readonly toleratedExit?: number;
}

/** A git directory outside the workspace: nothing in the workspace's own `.git` is read by it. */
export interface PrivateGit {
  readonly directory: string;
  run(args: readonly string[], call: GitCall): Promise<Buffer>;
}

export async function createPrivateGit(directory: string): Promise<PrivateGit> {
  for (const folder of ["objects", "refs", "info"]) await mkdir(join(directory, folder), { recursive: true });
  await writeFile(join(directory, "HEAD"), "ref: refs/heads/none\n");
  return {
    directory,
    async run(args, { workTree, index, ...rest }) {
      await writeFile(join(directory, "config"), CONFIG);
      return runTool(["git", `--git-dir=${directory}`, `--work-tree=${workTree}`, ...args], {
        directory: workTree,
        env: { ...toolEnvironment(directory), GIT_INDEX_FILE: index ?? join(directory, "index") },
        ...rest,
      });
    },
  };
}
