// Compiles src/ to lib/ with tsc, and skips the work when nothing has changed since the last build.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "lib", ".built");

const inputs = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() || entry.isDirectory())
  .map((entry) => join(entry.parentPath, entry.name));
inputs.push(
  join(root, "src"),
  join(root, "tsconfig.json"),
  join(root, "tsconfig.build.json"),
  join(root, "package-lock.json"),
);

const isCurrent =
  existsSync(stamp) && inputs.every((path) => statSync(path).mtimeMs <= statSync(stamp).mtimeMs);
if (!isCurrent) {
  rmSync(join(root, "lib"), { recursive: true, force: true });
  execFileSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "tsconfig.build.json")],
    {
      stdio: "inherit",
    },
  );
  const cli = join(root, "lib/entry/cli.js");
  if (existsSync(cli)) chmodSync(cli, 0o755);
  writeFileSync(stamp, "");
}
