import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLocalCodeHost } from "../../../src/adapters/local/code-host.js";
import { openLocalGit } from "../../../src/adapters/local/git.js";
import { createLocalWorkspaces } from "../../../src/adapters/local/workspaces.js";
import { belongings, useCheckout } from "./checkout.js";

const checkout = useCheckout();

async function open(sha: string) {
  const tempRoot = join(checkout.temp, "workspaces");
  await mkdir(tempRoot, { recursive: true });
  const git = await openLocalGit(checkout.root);
  const workspace = await createLocalWorkspaces(git, { tempRoot }).open(sha, {
    outputFolder: ".claude/crunch/42",
  });
  const read = (path: string) => readFile(join(workspace.directory, path), "utf8");
  return { git, workspace, read, tempRoot };
}

it("a workspace has the files of the commit, not those of the working tree", async () => {
  await checkout.write({
    "a.txt": "a\n",
    "run.sh": "#!/bin/sh\n",
    ".gitignore": "kept.log\n",
    "kept.log": "k\n",
  });
  await chmod(join(checkout.root, "run.sh"), 0o755);
  await symlink("a.txt", join(checkout.root, "link"));
  const sha = checkout.commitAll();
  await checkout.write({ "a.txt": "changed\n", ".claude/crunch/1/issue.md": "# An issue\n" });
  const before = belongings(checkout.root);
  const { workspace, read, tempRoot } = await open(sha);
  expect((await readdir(workspace.directory)).sort()).toEqual([
    ".git",
    ".gitignore",
    "a.txt",
    "kept.log",
    "link",
    "run.sh",
  ]);
  expect(await read("a.txt")).toBe("a\n");
  expect(await readlink(join(workspace.directory, "link"))).toBe("a.txt");
  expect((await stat(join(workspace.directory, "run.sh"))).mode & 0o111).toBe(0o111);
  expect(await workspace.changes()).toEqual([]);
  await workspace.close();
  expect(await readdir(tempRoot)).toEqual([]);
  expect(belongings(checkout.root)).toEqual(before);
});

it("what archives leave out or fill in arrives as it is", async () => {
  const attributes = [
    "secret.txt export-ignore",
    "docs export-ignore",
    "version.txt export-subst",
    "[attr]hidden export-ignore",
    "macro.txt hidden",
  ].join("\n");
  const files = {
    ".gitattributes": `${attributes}\n.gitattributes export-ignore\n`,
    "secret.txt": "kept\n",
    "docs/.gitattributes": "deep.md export-ignore\n",
    "docs/deep.md": "# Deep\n",
    "version.txt": "$Format:%H$\n",
    "macro.txt": "kept too\n",
  };
  await checkout.write(files);
  const sha = checkout.commitAll();
  // The person's own attributes do not count either.
  await writeFile(join(checkout.root, ".git/info/attributes"), "* export-ignore\n");
  const { workspace, read } = await open(sha);
  for (const [path, content] of Object.entries(files)) expect(await read(path)).toBe(content);
  expect(await workspace.changes()).toEqual([]);
  await workspace.close();
});

it("files that a checkout converts come back as they were committed", async () => {
  const attributes =
    "*.bat eol=crlf\n*.utf16 text working-tree-encoding=UTF-16LE\n*.lfs filter=lfs\n*.c ident\n";
  await checkout.write({ ".gitattributes": attributes, "a.lfs": "pointer\n" });
  await checkout.write({
    "run.bat": "one\r\n",
    "t.utf16": Buffer.from("hé\n", "utf16le"),
    "x.c": "/* $Id$ */\n",
  });
  const sha = checkout.commitAll();
  checkout.git("config", "filter.lfs.smudge", "echo smudged");
  const { git, workspace, read } = await open(sha);
  expect(await read("a.lfs")).toBe("pointer\n");
  expect(await read("run.bat")).toBe("one\r\n");
  expect(await workspace.changes()).toEqual([]);
  await writeFile(join(workspace.directory, "run.bat"), "one\r\ntwo\r\n");
  const changes = await workspace.changes();
  const code = createLocalCodeHost(git, { defaultBranch: "main" });
  const commit = await code.prepareCommit({ parent: await code.commit(sha), changes, message: "two" });
  expect(checkout.git("cat-file", "-p", `${commit.sha}:run.bat`)).toBe("one\ntwo");
  expect(checkout.git("diff", "--name-only", sha, commit.sha)).toBe("run.bat");
  await workspace.close();
});

it("a submodule is an empty folder, and stays in the commit that is made of the changes", async () => {
  await checkout.write({ "a.txt": "a\n" });
  const inner = checkout.commitAll();
  checkout.git("update-index", "--add", "--cacheinfo", `160000,${inner},module`);
  checkout.git("commit", "--quiet", "--message", "with a submodule");
  const sha = checkout.git("rev-parse", "HEAD");
  const { git, workspace } = await open(sha);
  expect(await readdir(join(workspace.directory, "module"))).toEqual([]);
  expect(await workspace.changes()).toEqual([]);
  await writeFile(join(workspace.directory, "b.txt"), "b\n");
  await rm(join(workspace.directory, "a.txt"));
  const changes = await workspace.changes();
  const code = createLocalCodeHost(git, { defaultBranch: "main" });
  const made = await code.prepareCommit({ parent: await code.commit(sha), changes, message: "b" });
  expect(checkout.git("ls-tree", "--name-only", made.sha)).toBe("b.txt\nmodule");
  await workspace.close();
});

it("works in a linked work tree and in a clone that borrows its objects", async () => {
  await checkout.write({ "a.txt": "a\n" });
  const sha = checkout.commitAll();
  const [linked, clone] = [join(checkout.temp, "linked"), join(checkout.temp, "clone")];
  checkout.git("worktree", "add", "--quiet", "--detach", linked, sha);
  checkout.git("clone", "--quiet", "--shared", checkout.root, clone);
  for (const root of [linked, clone]) {
    const workspace = await createLocalWorkspaces(await openLocalGit(root)).open(sha, {
      outputFolder: ".claude/crunch/42",
    });
    expect(await readFile(join(workspace.directory, "a.txt"), "utf8")).toBe("a\n");
    await workspace.close();
  }
});

it("a commit that is not there is told, and leaves nothing behind", async () => {
  await checkout.write({ "a.txt": "a\n" });
  checkout.commitAll();
  await expect(open("1".repeat(40))).rejects.toMatchObject({ code: "files_unreadable" });
  expect(await readdir(join(checkout.temp, "workspaces"))).toEqual([]);
});
