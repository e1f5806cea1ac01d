import { execFileSync } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, readlink, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkspaceProvider } from "../../../src/adapters/workspace/workspace-provider.js";
import type { FileChange, Workspace } from "../../../src/ports.js";
import { aFile } from "../../builders.js";

const FOLDER = { outputFolder: "work/42" };
let root = "";
let victim = "";
let workspace: Workspace;
const at = (path: string) => join(workspace.directory, path);
const refused = { code: "workspace_path_refused" };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "crunch-test-"));
  victim = join(root, "victim");
  await mkdir(join(root, "tar/top/src"), { recursive: true });
  await mkdir(join(root, "temp"));
  await mkdir(victim);
  await writeFile(join(victim, "precious"), "precious");
  await writeFile(join(root, "tar/top/README.md"), "hello\n");
  await writeFile(join(root, "tar/top/src/a.ts"), "a\n");
  await symlink(victim, join(root, "tar/top/out"));
  await symlink(join(victim, "precious"), join(root, "tar/top/link"));
  const tarball = execFileSync("tar", ["-cz", "-C", join(root, "tar"), "top"]);
  const tempRoot = join(root, "temp");
  workspace = await createWorkspaceProvider({ fetchTarball: async () => tarball, tempRoot }).open(
    "a",
    FOLDER,
  );
});
afterEach(async () => {
  await workspace.close();
  await rm(root, { recursive: true, force: true });
});

describe("files of a checkpoint", () => {
  const escapes = () => [
    `../../../../../../../../../../..${victim}/planted`,
    "src/../../planted",
    `${victim}/planted`,
    "out/planted",
    ".git/hooks/post-checkout",
    "sub/.GIT/config",
    "src//planted",
    "./planted",
    "README.md/planted",
    "src",
  ];

  it("are refused where they lead out of the workspace, through links or into git's own folder", async () => {
    for (const path of escapes()) {
      const content = Buffer.from("evil");
      await expect(workspace.seed([{ path, content }]), path).rejects.toMatchObject(refused);
      await expect(workspace.apply([aFile(path)]), path).rejects.toMatchObject(refused);
    }
    expect(existsSync(join(victim, "planted"))).toBe(false);
    expect(existsSync(join(workspace.directory, ".git/hooks/post-checkout"))).toBe(false);
  });

  it("delete nothing outside", async () => {
    const gone = (path: string) => workspace.apply([aFile(path, { content: null, status: "deleted" })]);
    await expect(gone(`../../../../../../../../../..${victim}/precious`)).rejects.toMatchObject(refused);
    await expect(gone("out/precious")).rejects.toMatchObject(refused);
    await gone("link");
    expect(existsSync(at("link"))).toBe(false);
    expect(await readFile(join(victim, "precious"), "utf8")).toBe("precious");
  });

  it("take the place of a link instead of being written through it", async () => {
    await workspace.apply([aFile("link", { status: "modified" })]);
    expect(lstatSync(at("link")).isFile()).toBe(true);
    await workspace.seed([{ path: "out", content: Buffer.from("text") }]);
    expect(lstatSync(at("out")).isFile()).toBe(true);
    expect(await readFile(join(victim, "precious"), "utf8")).toBe("precious");
  });

  it("come back as they were: links, modes, and folders that became files", async () => {
    const left: FileChange[] = [
      aFile("README.md", { status: "deleted", content: null }),
      aFile("README.md/now-a-folder", { mode: "100755" }),
      aFile("src", { content: Buffer.from("now a file") }),
      aFile("src/a.ts", { status: "deleted", content: null }),
      aFile("to", { mode: "120000", content: Buffer.from("README.md/now-a-folder") }),
    ];
    await workspace.apply(left);
    const byPath = (a: FileChange, b: FileChange) => (a.path < b.path ? -1 : 1);
    expect([...(await workspace.changes())].sort(byPath)).toEqual([...left].sort(byPath));
    expect(await readlink(at("to"))).toBe("README.md/now-a-folder");
  });

  it("are no links that lead outside", async () => {
    const link = aFile("to", { mode: "120000", content: Buffer.from("../../etc/passwd") });
    await expect(workspace.apply([link])).rejects.toMatchObject({ code: "symlink_outside" });
    expect(existsSync(at("to"))).toBe(false);
  });
});

describe("after the changes were read", () => {
  it("what is done to the files is told, but not that they were written again as they were", async () => {
    await writeFile(at("new.txt"), "n");
    await workspace.changes();
    await writeFile(at("README.md"), "hello\n");
    await utimes(at("new.txt"), 1, 1);
    await writeFile(at("leftover"), "x");
    expect(await workspace.touched()).toEqual([]);
    await writeFile(at("new.txt"), "other");
    await rm(at("src/a.ts"));
    await chmod(at("README.md"), 0o755);
    expect([...(await workspace.touched())].sort()).toEqual(["README.md", "new.txt", "src/a.ts"]);
  });

  it("what gates leave is neither in the next baseline nor a change of the next agent", async () => {
    await writeFile(at("new.txt"), "n");
    await workspace.changes();
    await mkdir(at("coverage/sub"), { recursive: true });
    await writeFile(at("coverage/sub/index.html"), "x");
    await mkdir(at("work/42"), { recursive: true });
    await writeFile(at("work/42/of-a-gate"), "x");
    await writeFile(at("README.md"), "formatted\n");
    await rm(at("src"), { recursive: true });
    await workspace.settle("b");
    expect(await workspace.changes()).toEqual([]);
    expect(existsSync(at("coverage"))).toBe(false);
    expect(await readFile(at("README.md"), "utf8")).toBe("hello\n");
    expect(await readFile(at("src/a.ts"), "utf8")).toBe("a\n");
    await rm(at("new.txt"));
    expect((await workspace.changes()).map(({ path }) => path)).toEqual(["new.txt"]);
  });
});

it("outputs count even where .gitignore hides them, wherever the issue's folder is", async () => {
  await writeFile(at(".gitignore"), "work\n.claude\n");
  await workspace.changes();
  await workspace.settle("b");
  for (const folder of ["work/42", ".claude/crunch/42"]) {
    await mkdir(at(folder), { recursive: true });
    await writeFile(at(`${folder}/spec.md`), "spec");
  }
  expect((await workspace.changes()).map(({ path }) => path)).toEqual(["work/42/spec.md"]);
});

it("a folder that was there before: nobody deletes from the repository what it does not have", async () => {
  const directory = join(root, "checkout");
  await mkdir(directory);
  await writeFile(join(directory, "a.txt"), "a");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: directory });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  await writeFile(join(directory, "of-the-job.txt"), "x");
  const fetchTarball = () => Promise.reject(new Error("nothing is to be fetched"));
  const options = { fetchTarball, directory, checkoutSha: "a", tempRoot: join(root, "temp") };
  const provider = createWorkspaceProvider(options);
  for (const _ of ["first", "again"]) {
    const inPlace = await provider.open("a", FOLDER);
    await rm(join(directory, "of-the-job.txt"));
    await rm(join(directory, "a.txt"));
    expect((await inPlace.changes()).map(({ path }) => path)).toEqual(["a.txt"]);
    await writeFile(join(directory, "of-the-job.txt"), "x");
    await writeFile(join(directory, "a.txt"), "a");
    await inPlace.close();
  }
});

it("the content before the agent's changes can be read", async () => {
  await writeFile(at("README.md"), "changed\n");
  await writeFile(at("new.txt"), "n");
  await workspace.changes();
  expect((await workspace.contentBefore("README.md"))?.toString()).toBe("hello\n");
  expect(await workspace.contentBefore("new.txt")).toBe(null);
});
