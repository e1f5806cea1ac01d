import { CrunchError } from "../../errors.js";
import type { FileChange } from "../../ports.js";
import { splitPaths, toText } from "./file-index.js";
import type { PrivateGit } from "./private-git.js";
import { refuseOutsideTarget } from "./symlink-target.js";

const MOST_FILES = 10_000;
const MOST_BYTES = 200 * 1024 * 1024;
const DELETED = /^0+$/;

type Entry = Pick<FileChange, "path" | "mode" | "status"> & { readonly blob: string };

/** What the index has that the tree `baseline` has not. Contents come from the object store, not from disk. */
export async function readChanges(
  git: PrivateGit,
  workTree: string,
  baseline: string,
): Promise<FileChange[]> {
  const args = ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", baseline];
  const fields = splitPaths(await git.run(args, { workTree }));
  const entries: Entry[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2)
    entries.push(parseEntry(fields[i] ?? "", fields[i + 1] ?? ""));
  if (entries.length > MOST_FILES) throw tooMuch(`${entries.length} files changed`, `${MOST_FILES} files`);

  const blobs = [...new Set(entries.map((entry) => entry.blob).filter((blob) => !DELETED.test(blob)))];
  const contents = await readBlobs(git, workTree, blobs);
  return entries.map(({ blob, ...entry }) => {
    const content = contents.get(blob) ?? null;
    if (entry.mode === "120000" && content) refuseOutsideTarget(entry.path, content.toString("utf8"));
    return { ...entry, content };
  });
}

/** `:100644 100755 <old blob> <new blob> M` */
function parseEntry(meta: string, rawPath: string): Entry {
  const [oldMode = "", newMode = "", , blob = "", letter = ""] = meta.slice(1).split(" ");
  const status = letter === "A" ? "added" : letter === "D" ? "deleted" : "modified";
  const path = toText(rawPath);
  if (Buffer.from(path).toString("latin1") !== rawPath) {
    throw new CrunchError({
      code: "path_not_utf8",
      message: `The name of the file ${JSON.stringify(path)} is not UTF-8, so GitHub can't take it.`,
      hint: "Have the agent rename or delete the file, then run the phase again.",
    });
  }
  return { path, mode: modeOf(status === "deleted" ? oldMode : newMode, path), status, blob };
}

function modeOf(mode: string, path: string): FileChange["mode"] {
  if (mode === "100644" || mode === "100755" || mode === "120000") return mode;
  throw new CrunchError({
    code: "nested_repository",
    message: `${JSON.stringify(path)} is a git repository of its own, which Crunch does not commit.`,
    hint: "Have the agent delete the nested `.git` folder, then run the phase again.",
  });
}

async function readBlobs(git: PrivateGit, workTree: string, blobs: readonly string[]) {
  const input = Buffer.from(blobs.map((blob) => `${blob}\n`).join(""));
  const sizes = await git.run(["cat-file", "--batch-check=%(objectsize)"], { workTree, input });
  const total = sizes
    .toString("latin1")
    .split("\n")
    .reduce((sum, size) => sum + Number(size), 0);
  if (total > MOST_BYTES) throw tooMuch(`${Math.round(total / 1024 / 1024)} MB changed`, "200 MB");

  const output = await git.run(["cat-file", "--batch"], { workTree, input });
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const headerEnd = output.indexOf("\n", at);
    const [blob = "", , size = ""] = output.toString("latin1", at, headerEnd).split(" ");
    const end = headerEnd + 1 + Number(size);
    contents.set(blob, output.subarray(headerEnd + 1, end));
    at = end + 1;
  }
  return contents;
}

function tooMuch(what: string, limit: string): CrunchError {
  return new CrunchError({
    code: "changes_too_large",
    message: `The agent changed too much for one commit: ${what}, the limit is ${limit}.`,
    hint: "Check `.gitignore`: installed packages or build output may be counted. Then run the phase again.",
  });
}
