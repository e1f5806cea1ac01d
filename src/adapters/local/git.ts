import { resolve } from "node:path";
import { CrunchError, messageOf } from "../../errors.js";
import { runTool } from "../process/run-tool.js";

interface GitCall {
  readonly input?: Buffer;
  /** A private index. Without one, only commands that use no index at all are run. */
  readonly index?: string;
  /** Who makes the commit or moves the branch. */
  readonly identity?: Identity;
  /** Besides 0, where git answers with its exit code. */
  readonly toleratedExit?: number;
}

export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** git in somebody's own checkout: objects and branches only, never their index or their files. */
export interface LocalGit {
  /** The top folder of the checkout. */
  readonly root: string;
  readonly objectsDirectory: string;
  run(args: readonly string[], call?: GitCall): Promise<Buffer>;
  /** What git printed, as text without the last line's end. */
  text(args: readonly string[], call?: GitCall): Promise<string>;
}

/** Last word over the person's configuration: nothing of theirs is started, and nothing is written on the side. */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  // Would write a shared part of our private index into their git directory.
  "core.splitIndex=false",
  "core.sparseCheckout=false",
  "index.sparse=false",
  "gc.auto=0",
  "i18n.commitEncoding=UTF-8",
].flatMap((setting) => ["-c", setting]);

/** Opens the checkout that a folder belongs to. */
export async function openLocalGit(directory: string): Promise<LocalGit> {
  const found = await describeCheckout(directory);
  if (found.format !== "sha1") {
    throw new CrunchError({
      code: "object_format_unsupported",
      message: `The repository in ${found.root} uses ${found.format} for its objects; Crunch reads sha1 only.`,
      hint: "Clone it with `git init --object-format=sha1`, and run Crunch there.",
    });
  }
  const run = (args: readonly string[], call: GitCall = {}) => runGit(found.root, args, call);
  return {
    root: found.root,
    objectsDirectory: found.objects,
    run,
    text: async (args, call) => (await run(args, call)).toString("utf8").replace(/\n$/, ""),
  };
}

async function describeCheckout(directory: string) {
  const args = ["rev-parse", "--show-toplevel", "--show-object-format", "--git-path", "objects"];
  try {
    const lines = (await runGit(directory, args, {})).toString("utf8").split("\n");
    const [root = "", format = "", objects = ""] = lines;
    return { root, format, objects: resolve(directory, objects) };
  } catch (cause) {
    throw new CrunchError({
      code: "no_checkout",
      message: `${directory} is not in a git checkout that Crunch can use: ${messageOf(cause)}`,
      hint: "Run Crunch in the folder of a checkout, or make one with `git init` and a first commit.",
      cause,
    });
  }
}

async function runGit(directory: string, args: readonly string[], call: GitCall): Promise<Buffer> {
  const { input, index, identity, toleratedExit } = call;
  try {
    return await runTool(["git", ...SETTINGS, ...args], {
      directory,
      env: environment(index, identity),
      ...(input && { input }),
      ...(toleratedExit !== undefined && { toleratedExit }),
    });
  } catch (cause) {
    const complaint = messageOf(cause).replace(/^`git [^`]*` failed: /, "");
    throw new CrunchError({
      code: "git_failed",
      message: `\`git ${args[0] ?? ""}\` failed: ${complaint}`,
      hint: "Try the same in the checkout; `git fsck` tells whether the repository is sound. Then run Crunch again.",
      cause,
    });
  }
}

/** Made anew: a GIT_DIR or GIT_INDEX_FILE around Crunch, as in a hook, would lead git to other places. */
function environment(index: string | undefined, identity: Identity | undefined): Record<string, string> {
  const kept = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    // A command that would use an index by mistake finds none, rather than the person's.
    GIT_INDEX_FILE: index ?? "/nonexistent/index",
  };
  for (const name of kept) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  if (identity) {
    env.GIT_AUTHOR_NAME = identity.name;
    env.GIT_AUTHOR_EMAIL = identity.email;
    env.GIT_COMMITTER_NAME = identity.name;
    env.GIT_COMMITTER_EMAIL = identity.email;
  }
  return env;
}
