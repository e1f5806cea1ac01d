import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { CrunchError, messageOf } from "../../errors.js";
import type { WorkspaceProvider } from "../../ports.js";
import { runTool } from "../process/run-tool.js";
import { temporaryFolder } from "../process/temporary-folder.js";
import { toolEnvironment } from "../workspace/tool-environment.js";
import { createWorkspaceProvider } from "../workspace/workspace-provider.js";
import type { LocalGit } from "./git.js";

/** Workspaces with the files of a commit, never those of the person's working tree. */
export function createLocalWorkspaces(
  git: LocalGit,
  options: { readonly tempRoot?: string } = {},
): WorkspaceProvider {
  const tempRoot = options.tempRoot ?? tmpdir();
  return createWorkspaceProvider({ fetchTarball: (sha) => archive(git, sha, tempRoot), tempRoot });
}

// Wins over every .gitattributes of the commit: nothing is left out, nothing is filled in. What a checkout does to
// line ends and encodings stays, because it is undone when changes are read back.
const ATTRIBUTES = "* -export-ignore -export-subst\n";
const CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tautocrlf = false\n";

/**
 * The archive is made by a git directory of our own that only borrows the objects: the person's has its own
 * attributes and filters, and git 2.39 has no other way to set those of a commit aside.
 */
async function archive(git: LocalGit, sha: string, tempRoot: string): Promise<Readable> {
  const folder = await temporaryFolder("archive", tempRoot);
  try {
    await createBorrower(folder);
    const output = join(folder, "files.tar.gz");
    const args = ["archive", "--format=tar.gz", "-1", "--prefix=x/", `--output=${output}`, sha];
    await runTool(["git", `--git-dir=${folder}`, ...args], {
      directory: folder,
      env: { ...toolEnvironment(folder), GIT_OBJECT_DIRECTORY: git.objectsDirectory },
    });
    // The open file outlives its folder.
    return (await open(output)).createReadStream();
  } catch (cause) {
    throw new CrunchError({
      code: "files_unreadable",
      message: `The files of commit ${sha} could not be read from ${git.root}: ${messageOf(cause)}`,
      hint: "`git fsck` tells what is missing. A partial clone lacks files: make a full one. Then run Crunch again.",
      cause,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function createBorrower(folder: string): Promise<void> {
  await mkdir(join(folder, "refs"));
  await mkdir(join(folder, "info"));
  await writeFile(join(folder, "HEAD"), "ref: refs/heads/none\n");
  await writeFile(join(folder, "config"), CONFIG);
  await writeFile(join(folder, "info/attributes"), ATTRIBUTES);
}
