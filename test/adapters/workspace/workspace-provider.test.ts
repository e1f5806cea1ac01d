import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkspaceProvider } from "../../../src/adapters/workspace/workspace-provider.js";
import type { FileChange, Workspace } from "../../../src/ports.js";

type Files = Readonly<Record<string, string>>;
const FOLDER = { outputFolder: ".claude/crunch/42" };
const BASE: Files = {
  "README.md": "hello\n",
  "src/a.ts": "a\n",
  "src/b.ts": "b\n",
  ".gitignore": "node_modules\nsecret.txt\n",
};

let root = "";
let temp = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "crunch-test-"));
  temp = join(root, "temp");
  await mkdir(temp);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function writeFiles(directory: string, files: Files) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}
async function tarballOf(files: Files, prepare?: (folder: string) => Promise<void>): Promise<Buffer> {
  const parent = await mkdtemp(join(root, "tar-"));
  await writeFiles(join(parent, "octo-app-abc"), files);
  await prepare?.(join(parent, "octo-app-abc"));
  return execFileSync("tar", ["-cz", "-C", parent, "octo-app-abc"], { maxBuffer: 1e9 });
}
const git = (directory: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

async function openTemporary(files: Files = BASE, prepare?: (folder: string) => Promise<void>) {
  const tarball = await tarballOf(files, prepare);
  return createWorkspaceProvider({ fetchTarball: async () => tarball, tempRoot: temp }).open("sha1", FOLDER);
}
async function checkout(files: Files = BASE) {
  const directory = join(root, "checkout");
  await writeFiles(directory, files);
  git(directory, "init", "-q");
  git(directory, "add", "-A", "-f");
  git(directory, "commit", "-qm", "first");
  return directory;
}
const short = (changes: readonly FileChange[]) =>
  changes.map(({ path, mode, status, content }) => `${status} ${mode} ${path} ${content?.toString() ?? "-"}`);

describe("a temporary workspace", () => {
  it("has the tarball's files, is a git repository, and goes away with all that belongs to it", async () => {
    const workspace = await openTemporary();
    expect(await readFile(join(workspace.directory, "src/a.ts"), "utf8")).toBe("a\n");
    expect(workspace.baseSha).toBe("sha1");
    expect(git(workspace.directory, "log", "--format=%s").trim()).toBe("base sha1");
    expect(git(workspace.directory, "status", "--porcelain")).toBe("");
    expect(await workspace.changes()).toEqual([]);
    await workspace.close();
    await workspace.close();
    expect(await readdir(temp)).toEqual([]);
  });

  it("can come from a stream", async () => {
    const tarball = await tarballOf(BASE);
    for (const stream of [Readable.from([tarball]), Readable.toWeb(Readable.from([tarball]))]) {
      const provider = createWorkspaceProvider({
        fetchTarball: async () => stream as Readable,
        tempRoot: temp,
      });
      const workspace = await provider.open("sha1", FOLDER);
      expect(existsSync(join(workspace.directory, "README.md"))).toBe(true);
      await workspace.close();
    }
  });

  it("leaves nothing behind when the tarball is broken", async () => {
    const tarball = await tarballOf(BASE);
    for (const broken of [Buffer.from("no tarball"), tarball.subarray(0, tarball.length / 2)]) {
      const provider = createWorkspaceProvider({ fetchTarball: async () => broken, tempRoot: temp });
      await expect(provider.open("sha1", FOLDER)).rejects.toMatchObject({ code: "tarball_unreadable" });
    }
    expect(await readdir(temp)).toEqual([]);
  });
});

describe("changes", () => {
  let workspace: Workspace;
  const at = (path: string) => join(workspace.directory, path);
  const open = async (...args: Parameters<typeof openTemporary>) => {
    workspace = await openTemporary(...args);
  };

  it("are files added, modified, deleted and made executable", async () => {
    await open();
    await writeFiles(workspace.directory, { "new.txt": "n", "src/a.ts": "a2\n" });
    await rm(at("src/b.ts"));
    await chmod(at("README.md"), 0o755);
    expect(short(await workspace.changes())).toEqual([
      "modified 100755 README.md hello\n",
      "added 100644 new.txt n",
      "modified 100644 src/a.ts a2\n",
      "deleted 100644 src/b.ts -",
    ]);
  });

  it("keep strange names and every byte", async () => {
    await open();
    const names = [
      "with space",
      "quo\"te's",
      "new\nline",
      "tab\there",
      "ünï/çødé 日本.txt",
      "-dash",
      ":(top)magic",
      "*.glob",
      "back\\slash",
    ];
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7919) % 256));
    for (const name of names) {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), Buffer.concat([Buffer.from(name), bytes]));
    }
    const changes = await workspace.changes();
    expect(changes.map(({ path }) => path).sort()).toEqual([...names].sort());
    for (const { path, content } of changes)
      expect(content?.equals(Buffer.concat([Buffer.from(path), bytes]))).toBe(true);
  });

  it("respect .gitignore, but for files that are tracked and for the output folder", async () => {
    await open({ ...BASE, "secret.txt": "tracked", ".gitignore": "node_modules\nsecret.txt\n.claude\n" });
    await writeFiles(workspace.directory, {
      "node_modules/x/index.js": "x",
      "secret.txt": "changed",
      ".claude/crunch/42/spec.md": "spec",
      ".claude/settings.json": "{}",
    });
    expect(short(await workspace.changes())).toEqual([
      "added 100644 .claude/crunch/42/spec.md spec",
      "modified 100644 secret.txt changed",
    ]);
  });

  it("include what the agent committed itself", async () => {
    await open();
    await writeFiles(workspace.directory, { "new.txt": "n" });
    git(workspace.directory, "add", "-A");
    git(workspace.directory, "commit", "-qm", "agent");
    expect(short(await workspace.changes())).toEqual(["added 100644 new.txt n"]);
  });

  it("count from the last settled commit", async () => {
    await open();
    await writeFiles(workspace.directory, { "new.txt": "n" });
    await workspace.changes();
    await workspace.settle("sha2");
    expect(workspace.baseSha).toBe("sha2");
    expect(await workspace.changes()).toEqual([]);
    await writeFiles(workspace.directory, { "new.txt": "m" });
    expect(short(await workspace.changes())).toEqual(["modified 100644 new.txt m"]);
    await writeFiles(workspace.directory, { "new.txt": "n" });
    expect(await workspace.changes()).toEqual([]);
  });

  it("take a file for a folder, and a folder for a file", async () => {
    await open();
    await rm(at("README.md"));
    await rm(at("src"), { recursive: true });
    await writeFiles(workspace.directory, { "README.md/x": "x", src: "s" });
    expect(short(await workspace.changes())).toEqual([
      "deleted 100644 README.md -",
      "added 100644 README.md/x x",
      "added 100644 src s",
      "deleted 100644 src/a.ts -",
      "deleted 100644 src/b.ts -",
    ]);
  });

  it("have symbolic links as links", async () => {
    await open();
    await symlink("src/a.ts", at("link"));
    await symlink("../README.md", at("src/up"));
    await symlink("missing", at("dangling"));
    expect(short(await workspace.changes())).toEqual([
      "added 120000 dangling missing",
      "added 120000 link src/a.ts",
      "added 120000 src/up ../README.md",
    ]);
  });

  it.each(["/etc/passwd", "../outside", "src/../../outside", "..", "src/up/../../x"])(
    "refuse a link that leads outside: %s",
    async (target) => {
      await open();
      await symlink(target, at("link"));
      await expect(workspace.changes()).rejects.toMatchObject({
        code: "symlink_outside",
        hint: expect.any(String),
      });
    },
  );

  it("do not follow a folder that became a link", async () => {
    await open();
    const outside = join(root, "outside");
    await writeFiles(outside, { "a.ts": "stolen", "c.ts": "stolen" });
    await rm(at("src"), { recursive: true });
    await symlink(outside, at("src"));
    await expect(workspace.changes()).rejects.toMatchObject({ code: "symlink_outside" });
  });

  it("take the files of a repository the agent made, ignored ones not, and never its .git", async () => {
    await open();
    for (const [folder, commits] of [
      ["empty", false],
      ["full", true],
      ["full/inner", true],
      ["README.md", true],
    ] as const) {
      await rm(at("README.md"), { force: true, recursive: true });
      await writeFiles(at(folder), {
        "f.txt": folder,
        "node_modules/m.js": "m",
        "own.log": "l",
        ".gitignore": "*.log\n",
      });
      git(at(folder), "init", "-q");
      if (commits) git(at(folder), "add", "f.txt");
      if (commits) git(at(folder), "commit", "-qm", "x");
    }
    const expected = ["empty", "full", "full/inner", "README.md"].flatMap((folder) => [
      `${folder}/.gitignore`,
      `${folder}/f.txt`,
    ]);
    const changes = await workspace.changes();
    expect(
      changes
        .filter(({ status }) => status === "added")
        .map(({ path }) => path)
        .sort(),
    ).toEqual(expected.sort());
    await workspace.settle("sha2");
    await writeFiles(workspace.directory, { "full/g.txt": "g" });
    expect(short(await workspace.changes())).toEqual(["added 100644 full/g.txt g"]);
  });

  it("never include .git in any spelling", async () => {
    await open();
    await writeFiles(workspace.directory, {
      ".GIT/config": "x",
      "a/.Git/hooks/x": "x",
      "git~1/config": "x",
      ok: "ok",
    });
    expect(short(await workspace.changes())).toEqual(["added 100644 ok ok"]);
  });

  it("refuse a file that is too large, without reading it", async () => {
    await open();
    execFileSync("truncate", ["-s", "1T", at("huge")]);
    await expect(workspace.changes()).rejects.toMatchObject({ code: "file_too_large" });
  });

  it("skip pipes", async () => {
    await open();
    execFileSync("mkfifo", [at("pipe")]);
    expect(await workspace.changes()).toEqual([]);
  });

  it("run nothing that the agent planted", async () => {
    await open({ ...BASE, "nested/x": "x" });
    const canary = join(root, "canary");
    const script = at("evil.sh");
    await writeFile(script, `#!/bin/sh\ntouch ${canary}\n`);
    await chmod(script, 0o755);
    git(at("nested"), "init", "-q");
    git(at("nested"), "add", "-A");
    git(at("nested"), "commit", "-qm", "x");
    for (const folder of [".", "nested"]) {
      for (const [key, value] of [
        ["core.fsmonitor", script],
        ["filter.evil.clean", script],
        ["filter.evil.process", script],
        ["core.hooksPath", at("hooks")],
        ["diff.external", script],
        ["core.sshCommand", script],
        ["core.attributesFile", script],
      ] as const) {
        git(at(folder), "config", key, value);
      }
    }
    for (const hook of ["post-index-change", "pre-commit", "post-checkout"]) {
      await writeFiles(workspace.directory, {
        [`hooks/${hook}`]: `#!/bin/sh\ntouch ${canary}\n`,
        [`.git/hooks/${hook}`]: `#!/bin/sh\ntouch ${canary}\n`,
      });
      await chmod(at(`hooks/${hook}`), 0o755);
      await chmod(at(`.git/hooks/${hook}`), 0o755);
    }
    await writeFiles(workspace.directory, { ".gitattributes": "* filter=evil diff=evil\n", "nested/y": "y" });
    await workspace.changes();
    await workspace.settle("sha2");
    await workspace.changes();
    expect(existsSync(canary)).toBe(false);
    // The trap does work: git itself, run in the workspace, steps into it.
    try {
      git(workspace.directory, "status");
    } catch {
      // The planted filter does not speak git's protocol.
    }
    expect(existsSync(canary)).toBe(true);
  });
});

describe("an existing checkout", () => {
  const provider = (directory: string, tarballs: Readonly<Record<string, Buffer>> = {}) =>
    createWorkspaceProvider({
      directory,
      checkoutSha: "sha1",
      tempRoot: temp,
      fetchTarball: async (sha) => tarballs[sha] ?? Promise.reject(new Error(`no tarball of ${sha}`)),
    });

  it("is used in place, without a download, and stays", async () => {
    const directory = await checkout({ ...BASE, "secret.txt": "tracked though ignored" });
    await writeFiles(directory, { "node_modules/x.js": "x" });
    const workspace = await provider(directory).open("sha1", FOLDER);
    await writeFiles(directory, { "src/a.ts": "a2\n", "node_modules/y.js": "y", "secret.txt": "s2" });
    expect(short(await workspace.changes())).toEqual([
      "modified 100644 secret.txt s2",
      "modified 100644 src/a.ts a2\n",
    ]);
    await workspace.close();
    expect(await readdir(temp)).toEqual([]);
    expect(await readFile(join(directory, "src/a.ts"), "utf8")).toBe("a2\n");
    expect(existsSync(join(directory, "node_modules/x.js"))).toBe(true);
  });

  it("is brought to another commit: tracked files go, untracked and ignored ones stay", async () => {
    const directory = await checkout();
    await writeFiles(directory, { "node_modules/x.js": "x", "mine.txt": "untracked" });
    const { "src/b.ts": _, ...rest } = BASE;
    const tarball = await tarballOf({ ...rest, "src/a.ts": "other\n", "src/c.ts": "c\n" });
    const workspace = await provider(directory, { sha2: tarball }).open("sha2", FOLDER);
    expect((await readdir(join(directory, "src"))).sort()).toEqual(["a.ts", "c.ts"]);
    expect(await readFile(join(directory, "src/a.ts"), "utf8")).toBe("other\n");
    expect(await readFile(join(directory, "mine.txt"), "utf8")).toBe("untracked");
    expect(existsSync(join(directory, "node_modules/x.js"))).toBe(true);
    expect(await workspace.changes()).toEqual([]);
    await workspace.close();
    expect(await readdir(temp)).toEqual([]);
  });

  it("is opened again at the commit it was settled at, without a download", async () => {
    const directory = await checkout();
    const workspaces = provider(directory);
    const first = await workspaces.open("sha1", FOLDER);
    await writeFiles(directory, { "new.txt": "n" });
    await first.changes();
    await first.settle("sha2");
    await first.close();
    const second = await workspaces.open("sha2", FOLDER);
    expect(await second.changes()).toEqual([]);
    await second.close();
  });

  it("is cleaned of what a failed attempt left, when it is opened again", async () => {
    const directory = await checkout();
    const workspaces = provider(directory, { sha1: await tarballOf(BASE) });
    const first = await workspaces.open("sha1", FOLDER);
    const outside = join(root, "outside");
    await writeFiles(outside, { "a.ts": "precious", "b.ts": "precious" });
    await rm(join(directory, "src"), { recursive: true });
    await symlink(outside, join(directory, "src"));
    await writeFiles(directory, { "left.txt": "left", "README.md": "half done" });
    await first.close();
    const second = await workspaces.open("sha1", FOLDER);
    expect(await readFile(join(directory, "src/a.ts"), "utf8")).toBe("a\n");
    expect(await readFile(join(outside, "a.ts"), "utf8")).toBe("precious");
    expect(existsSync(join(directory, "left.txt"))).toBe(false);
    await writeFiles(directory, { "README.md": "done" });
    expect(short(await second.changes())).toEqual(["modified 100644 README.md done"]);
    await second.close();
  });

  it("may be a linked work tree, and respects its local excludes", async () => {
    const main = await checkout();
    const linked = join(root, "linked");
    git(main, "worktree", "add", "-q", linked);
    const workspace = await provider(linked).open("sha1", FOLDER);
    await writeFiles(linked, { "src/a.ts": "a2" });
    expect(short(await workspace.changes())).toEqual(["modified 100644 src/a.ts a2"]);
    await workspace.close();
    await writeFiles(main, { ".git/info/exclude": "*.local\n" });
    const other = await provider(main).open("sha1", FOLDER);
    await writeFiles(main, { "x.local": "x", y: "y" });
    expect(short(await other.changes())).toEqual(["added 100644 y y"]);
    await other.close();
  });
});

it("a repository of 5,000 files opens and is compared in seconds", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, i) => [`d${i % 50}/f${i}.txt`, `${i}\n`.repeat(50)]),
  );
  const tarball = await tarballOf(files);
  const startedAt = performance.now();
  const provider = createWorkspaceProvider({ fetchTarball: async () => tarball, tempRoot: temp });
  const workspace = await provider.open("sha1", FOLDER);
  const opened = performance.now();
  await writeFiles(workspace.directory, { "d1/f1.txt": "changed" });
  expect(await workspace.changes()).toHaveLength(1);
  const compared = performance.now();
  if (process.env.SHOW_TIMES)
    console.log("open", Math.round(opened - startedAt), "changes", Math.round(compared - opened));
  expect(compared - startedAt).toBeLessThan(20_000);
});
