import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

export interface Import {
  /** As written: `../errors.js`, `zod`. A built-in module always has its `node:`. */
  readonly specifier: string;
  /** Nothing of it is left at run time. */
  readonly isType: boolean;
}

export interface SourceFile {
  /** Relative to `src`: `engine/decide.ts`. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

const source = fileURLToPath(new URL("../../src/", import.meta.url));

export function readSource(): SourceFile[] {
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => {
      const text = readFileSync(file, "utf8");
      const path = relative(source, file).replaceAll(sep, "/");
      return { path, lines: text.trimEnd().split("\n").length, imports: importsOf(text) };
    });
}

/** Every import and re-export of a module's text, static or dynamic. */
export function importsOf(text: string): Import[] {
  const statics = [...text.matchAll(/^(?:import|export)\b([\w\s{},*$]*?)(?:\bfrom\s*)?["']([^"']+)["']/gm)];
  const dynamics = [...text.matchAll(/\bimport\(\s*["'`]([^"'`]+)["'`]/g)];
  return [
    ...statics.map(([, clause = "", specifier = ""]) => ({
      specifier: withProtocol(specifier),
      isType: isTypeClause(clause),
    })),
    ...dynamics.map(([, specifier = ""]) => ({ specifier: withProtocol(specifier), isType: false })),
  ];
}

/** The file of ours that an import means, or null when it is a package. */
export function targetOf(file: SourceFile, { specifier }: Import): string | null {
  if (!specifier.startsWith(".")) return null;
  return posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, ".ts");
}

function withProtocol(specifier: string): string {
  return isBuiltin(specifier) && !specifier.startsWith("node:") ? `node:${specifier}` : specifier;
}

function isTypeClause(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true;
  const names = /^\s*\{([^}]*)\}\s*$/
    .exec(clause)?.[1]
    ?.split(",")
    .filter((name) => name.trim() !== "");
  return names !== undefined && names.length > 0 && names.every((name) => /^\s*type\s/.test(name));
}
