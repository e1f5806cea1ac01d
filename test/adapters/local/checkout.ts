import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, vi } from "vitest";
import type { FileChange } from "../../../src/ports.js";

export type Files = Readonly<Record<string, string | Buffer>>;

/** A real checkout in a temporary folder, on a machine whose own git configuration is out of sight. */
export interface Checkout {
  /** Holds the checkout, and whatever else a test needs. */
  readonly temp: string;
  readonly root: string;
  git(...args: readonly string[]): string;
  write(files: Files): Promise<void>;
  /** Commits all of the working tree, and gives the commit. */
  commitAll(message?: string): string;
}

export function useCheckout(): Checkout {
  let temp = "";
  beforeEach(() => {
    temp = realpathSync(mkdtempSync(join(tmpdir(), "crunch-test-")));
    vi.stubEnv("GIT_CONFIG_GLOBAL", "/dev/null");
    vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
    execFileSync("git", ["init", "--quiet", "--initial-branch=main", join(temp, "checkout")]);
    checkout.git("config", "user.name", "Ana");
    checkout.git("config", "user.email", "ana@example.test");
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(temp, { recursive: true, force: true });
  });
  const checkout: Checkout = {
    get temp() {
      return temp;
    },
    get root() {
      return join(temp, "checkout");
    },
    git: (...args) => gitIn(checkout.root, ...args),
    write: (files) => writeFiles(checkout.root, files),
    commitAll(message = "a commit") {
      checkout.git("add", "--all", "--force");
      checkout.git("commit", "--quiet", "--allow-empty", "--message", message);
      return checkout.git("rev-parse", "HEAD");
    },
  };
  return checkout;
}

function gitIn(directory: string, ...args: readonly string[]): string {
  const options = { cwd: directory, encoding: "utf8" } as const;
  return execFileSync("git", [...args], options).replace(/\n$/, "");
}

export async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}

/** All that is the person's: every file of the working tree, what is checked out, the index. */
export function belongings(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (name === ".git" || name.startsWith(".git/")) continue;
    const stat = lstatSync(join(root, name));
    const content = stat.isSymbolicLink()
      ? readlinkSync(join(root, name))
      : stat.isFile()
        ? hash(join(root, name))
        : "";
    found[name] = `${stat.mode.toString(8)} ${stat.mtimeMs} ${content}`;
  }
  for (const name of ["HEAD", "index", "config"]) found[`.git/${name}`] = hash(join(root, ".git", name));
  found[".git"] = readdirSync(join(root, ".git")).sort().join(" ");
  return found;
}

const hash = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

export function added(
  path: string,
  content: string | Buffer,
  mode: FileChange["mode"] = "100644",
): FileChange {
  return { path, mode, content: Buffer.from(content), status: "added" };
}

export function deleted(path: string): FileChange {
  return { path, mode: "100644", content: null, status: "deleted" };
}
