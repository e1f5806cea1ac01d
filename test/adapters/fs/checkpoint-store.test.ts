import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileStore, type FileStoreOptions } from "../../../src/adapters/fs/checkpoint-store.js";
import { ownIdentity } from "../../../src/adapters/process/process-probe.js";
import { aChain, aFirst, aNext, expectWhole, file, last, put } from "../../contract/chains.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "crunch-fs-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (options: FileStoreOptions = {}) => createFileStore(root, { durability: "none", ...options });
const inChain = (name: string) => join(root, ".claude/crunch/42/checkpoints", name);
const lock = () => inChain(".staging/lock");
const aHolder = (changes: object) =>
  JSON.stringify({ ...ownIdentity(), started_at: "2025-01-14T10:00:00.000Z", ...changes });

describe("the files", () => {
  it("are those of GitHub: `latest` is a symlink to the newest checkpoint", async () => {
    const chain = await aChain(createFileStore(root), 42, 2);
    const names = chain.map(({ checkpoint_id }) => `${checkpoint_id}.yaml`);
    expect(readdirSync(inChain("")).sort()).toEqual([".staging", ...names, "index.yaml", "latest"].sort());
    expect(lstatSync(inChain("latest")).isSymbolicLink()).toBe(true);
    expect(readlinkSync(inChain("latest"))).toBe(last(names));
    expect(readdirSync(inChain(".staging"))).toEqual([]);
  });

  it("of a chain that git has checked out are read and gone on from", async () => {
    const chain = await aChain(open(), 42, 2);
    rmSync(inChain(".staging"), { recursive: true });
    expect((await put(open(), aNext(last(chain)))).status).toBe("stored");
    await expectWhole(open(), 42);
  });

  it("an index that lacks the latest checkpoint is made good, with nothing staged to tell of it", async () => {
    const chain = await aChain(open(), 42, 2);
    const before = readFileSync(inChain("index.yaml"));
    chain.push(aNext(last(chain)));
    await put(open(), last(chain));
    rmSync(inChain("index.yaml"));
    writeFileSync(inChain("index.yaml"), before);
    expect(await open().list(42)).toHaveLength(3);
    expect((await put(open(), aNext(last(chain)))).status).toBe("stored");
    expect((await expectWhole(open(), 42)).index).toHaveLength(4);
  });
});

describe("a lock", () => {
  const held = (holder: string) => {
    mkdirSync(inChain(".staging"), { recursive: true });
    symlinkSync(holder, lock());
  };

  it.each([
    ["a process that has ended", { pid: 2 ** 22 - 1 }],
    ["an earlier process with the same number", {}],
  ])("of %s is taken over", async (_, changes) => {
    held(aHolder(changes));
    expect((await put(open(), aFirst(42))).status).toBe("stored");
    expect(readdirSync(inChain(".staging"))).toEqual([]);
  });

  it.each([
    ["a process on another machine", aHolder({ host: "elsewhere" })],
    ["nobody knows whom", "something"],
  ])("of %s is waited for, then told about", async (_, holder) => {
    held(holder);
    const refused = put(open({ lockTimeoutMs: 100 }), aFirst(42));
    await expect(refused).rejects.toMatchObject({ name: "CrunchError", code: "checkpoint_store_locked" });
    expect(readlinkSync(lock())).toBe(holder);
    expect(await open().latest(42)).toBeNull();
    setTimeout(() => rmSync(lock()), 50);
    expect((await put(open(), aFirst(42))).status).toBe("stored");
  });

  it("of a process on another machine is taken over when it is older than any put", async () => {
    held(aHolder({ host: "elsewhere" }));
    lutimesSync(lock(), new Date(), new Date(Date.now() - 61_000));
    expect((await put(open(), aFirst(42))).status).toBe("stored");
  });

  it("that somebody took away keeps the put from being committed", async () => {
    const onStep = (step: string) => {
      if (step === "latest staged") rmSync(lock());
    };
    const refused = put(open({ onStep }), aFirst(42));
    await expect(refused).rejects.toMatchObject({ code: "checkpoint_store_locked" });
    expect(await open().latest(42)).toBeNull();
    expect(readdirSync(inChain(".staging"))).toEqual([]);
  });

  it("is not needed to read", async () => {
    const chain = await aChain(open(), 42, 1);
    held(aHolder({ host: "elsewhere" }));
    expect(await open().latest(42)).toEqual(last(chain));
    rmSync(lock());
  });
});

describe("symlinks that lead out of the root", () => {
  let outside: string;
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), "crunch-outside-"));
  });
  afterEach(() => rmSync(outside, { recursive: true, force: true }));
  const refusal = { name: "CrunchError", code: "file_path_refused" };

  it.each([".claude", ".claude/crunch", ".claude/crunch/42", ".claude/crunch/42/checkpoints"])(
    "as %s are refused, and nothing is written there",
    async (path) => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      symlinkSync(outside, join(root, path));
      await expect(put(open(), aFirst(42))).rejects.toMatchObject(refusal);
      expect(readdirSync(outside)).toEqual([]);
    },
  );

  it("as a folder or file of the issue are refused, for reading and writing", async () => {
    const chain = await aChain(open(), 42, 1);
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(outside, join(root, ".claude/crunch/42/notes"));
    symlinkSync(join(outside, "secret"), join(root, ".claude/crunch/42/spec.md"));
    for (const path of ["notes/secret", "spec.md"])
      await expect(open().readFile(42, path)).rejects.toMatchObject(refusal);
    const refused = put(open(), aNext(last(chain)), [file("notes/a.md", "x")]);
    await expect(refused).rejects.toMatchObject(refusal);
    expect(readdirSync(outside)).toEqual(["secret"]);
    // The link itself may be replaced by a file.
    expect((await put(open(), aNext(last(chain)), [file("spec.md", "x")])).status).toBe("stored");
    expect((await open().readFile(42, "spec.md"))?.toString()).toBe("x");
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  it("as a checkpoint or the index are refused", async () => {
    const chain = await aChain(open(), 42, 1);
    for (const name of [`${last(chain).checkpoint_id}.yaml`, "index.yaml"]) {
      renameSync(inChain(name), join(outside, name));
      symlinkSync(join(outside, name), inChain(name));
    }
    await expect(open().latest(42)).rejects.toThrow();
    await expect(open().list(42)).rejects.toThrow();
  });
});

describe("what can't be written", () => {
  it("a file in the place of a folder is refused before anything is stored", async () => {
    const first = aFirst(42);
    await put(open(), first, [file("notes/a.md", "x")]);
    const refused = put(open(), aNext(first), [file("notes", "x")]);
    await expect(refused).rejects.toMatchObject({ code: "file_path_refused" });
    expect(await open().latest(42)).toEqual(first);
    expect(readdirSync(inChain(".staging"))).toEqual([]);
    await expectWhole(open(), 42);
  });
});
