import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { CrunchError } from "../../errors.js";
import type { FileChange } from "../../ports.js";
import { writeInside } from "../workspace/write-inside.js";
import { named, type Repository } from "./repository.js";

/** Each takes a request, of which a token has 1,000 an hour. */
const mostFetched = 300;

interface Entry {
  readonly path: string;
  readonly mode: FileChange["mode"];
  readonly sha: string;
}

/**
 * Puts right the files of a tarball from GitHub, which leaves out what `.gitattributes` marks with `export-ignore` and
 * fills in what it marks with `export-subst`: an agent would take tests that are not there for tests that do not exist.
 */
export async function verifyFiles(repository: Repository, sha: string, directory: string): Promise<void> {
  const files = await filesIn(directory);
  if (!(await mayDiffer(repository, sha, directory, files))) return;
  const entries = await treeOf(repository, sha);
  const wrong: Entry[] = [];
  for (const entry of entries) if (!(await isOnDisk(directory, entry))) wrong.push(entry);
  if (wrong.length > mostFetched) throw tooMany(`${wrong.length} files`);
  for (const { path, mode, sha: blob } of wrong) {
    const { data } = await repository.octokit.git.getBlob({ ...named(repository), file_sha: blob });
    await writeInside(directory, { path, mode, content: Buffer.from(data.content, "base64") });
  }
}

/** Whether any attribute says so. The file that does may itself be left out: then the commit has more names. */
async function mayDiffer(
  repository: Repository,
  sha: string,
  directory: string,
  files: readonly string[],
): Promise<boolean> {
  for (const path of files.filter((each) => /(?:^|\/)\.gitattributes$/.test(each))) {
    const text = await readFile(join(directory, path), "utf8");
    if (/export-(?:ignore|subst)/.test(text)) return true;
  }
  if (files.includes(".gitattributes")) return false;
  const { data } = await repository.octokit.git.getTree({ ...named(repository), tree_sha: sha });
  const present = new Set(await readdir(directory));
  return data.tree.some(({ path, type }) => type !== "commit" && !present.has(path));
}

async function treeOf(repository: Repository, sha: string): Promise<readonly Entry[]> {
  const options = { ...named(repository), tree_sha: sha, recursive: "true" };
  const { data } = await repository.octokit.git.getTree(options);
  if (data.truncated) throw tooMany("all files of so large a repository");
  return data.tree.flatMap(({ path, mode, sha: blob }) =>
    mode === "100644" || mode === "100755" || mode === "120000" ? { path, mode, sha: blob } : [],
  );
}

/** Paths of plain files, relative; links are not followed. */
async function filesIn(directory: string): Promise<string[]> {
  const found: string[] = [];
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of await readdir(join(directory, folder), { withFileTypes: true })) {
      if (entry.isDirectory()) open.push(`${folder}${entry.name}/`);
      else if (entry.isFile()) found.push(folder + entry.name);
    }
  }
  return found;
}

async function isOnDisk(directory: string, { path, sha }: Entry): Promise<boolean> {
  const at = join(directory, path);
  const found = await lstat(at).catch(() => null);
  if (found?.isSymbolicLink()) return blobSha(await readlink(at, "buffer")) === sha;
  if (!found?.isFile()) return false;
  const content = await readFile(at);
  if (blobSha(content) === sha) return true;
  // Line ends that `.gitattributes` asks for are turned back when changes are read.
  return blobSha(Buffer.from(content.toString("latin1").replaceAll("\r\n", "\n"), "latin1")) === sha;
}

function blobSha(content: Buffer): string {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}

function tooMany(what: string): CrunchError {
  return new CrunchError({
    code: "files_left_out",
    message: `GitHub's archive of the repository is not the whole of it (\`export-ignore\` or \`export-subst\` in .gitattributes), and Crunch can't fetch ${what} one by one.`,
    hint: "Use the Action after actions/checkout, which has all files, or take these attributes out.",
  });
}
